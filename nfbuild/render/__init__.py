"""Baked frames become pixels: the only place where the rasterizer runs.

A worker process holds one `Renderer` and answers the values of `tasks`.
Not here: what a document says (`scene`), how pixels are named and written (`pixels`).
"""
