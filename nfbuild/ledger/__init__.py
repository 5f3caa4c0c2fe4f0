"""The ledger: the committed promise, one entry a composition, one lane a platform.

`entry` is the format, `runs` the frames in it, `sequence` their digest, `book` the folder of all
entries; `verdict` compares an entry with what was drawn, `excuse` bounds accepted differences,
`write_policy` says what `build` may write; `check` judges the ledger's shape, `matrix` compares
its lanes, `importing` reads the peer's form.

Nothing here draws, and nothing here knows a clock: days come in as arguments.
"""
