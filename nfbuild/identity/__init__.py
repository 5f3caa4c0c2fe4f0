"""Identity: names for inputs, and the difference of two names.

`manifest` holds the four parts and their diff, `keys` the keys of single frames, `toolchain` what
draws. Nothing here reads a composition or draws; digests of what was read come in.
"""
