"""What one run has at hand before it looks at a frame.

`session` holds it all: `options` as the user gave them, `inputs` and their hashes, `faces` and
`videos`, the `toolchain`, the `answers` that were asked once and are `kept`. `state` is what a
build with nothing to do may rely on, `standing` and `staging` are where files are put, `reports`
the values that verbs return, `ranges` the frames that a user names.
"""
