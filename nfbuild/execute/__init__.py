"""Executors: many tasks in, many outcomes out, in this process or in several.

`base` is the contract; `inline` is the reference member and `pool` the one that builds use.
Nothing is imported here: a command that draws nothing pays for no executor.
"""
