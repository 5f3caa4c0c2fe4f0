"""The command line: words in, words out, no decisions.

`entry` is the program, `app` the commands and their options, `terminal` what a person reads. A
build with nothing to do is answered by `entry` before Typer is imported.
"""
