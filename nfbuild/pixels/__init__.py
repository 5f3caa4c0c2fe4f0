"""Pixels: their canonical digest, their files, decoding foreign pictures, measures of difference.

Pixels are straight (not premultiplied) 8-bit RGBA rows everywhere. NumPy, Pillow and isal are
each imported by one module of this package, so this file imports nothing.
Not here: drawing (`render`), where files are kept (`store`).
"""
