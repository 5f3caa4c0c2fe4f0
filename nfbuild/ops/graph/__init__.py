"""The build graph: what a build made, as nodes and edges with one canonical text.

`model` is the graph, `make` takes one of a build, `now` one of the project as it is, `text` writes
and reads the artifact, `compare` finds what differs, `draw` writes it for other programs.
"""
