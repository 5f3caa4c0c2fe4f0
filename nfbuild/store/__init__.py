"""Stores: where blobs and records are kept, how several become one, and how they are kept small.

`base` says what a store promises; `memory`, `local`, `directory`, `http` and `object` are stores;
`layers`, `breaker` and `uploads` make one store of several; `stack` does that for a project.
`collect` and `scrub` look after a directory; `stats` counts.

Nothing is imported here: workers need one light module of this room.
"""
