"""Exports: frames become files that people watch.

`base` declares what is asked of a source of frames, `plan` resolves one `[[export]]` against one
composition, `timing` says which frame stands when, `pngs` writes PNG sequences, `make` writes
every other product by `film`, `apng`, `webp`, `gif` and `pictures`; `readback` opens what was
written and compares, `publish` puts it in place, `scan` tells that nothing moved.

A product is a node of the build like any other: named by what it is made of, skipped when none of
that moved, written beside and renamed, and checked by decoding before it counts. It never enters
an identity. NumPy, Pillow and PyAV are each imported by one module of this package, so this file
imports nothing. Not here: drawing frames, and where state is kept (`ops`).
"""
