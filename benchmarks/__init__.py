"""Benchmarks: nfbuild against its peer, against the floor, and against itself as work grows.

`python -m benchmarks` runs cases side by side in one run and prints one table; every target is a
ratio within that run. `README.md` describes the environment and how to read the figures.
"""
