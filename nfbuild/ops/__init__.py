"""Operations: one file per verb, over the rooms that the verbs share.

Verbs: `build`, `status`, `verify`, `digest`, `frame`, `sheet`, `explain`, `check`, `accept`,
`ledgers`, `cache`, `doctor`; `nothing` is a build that finds nothing to do, `leave` the end of one.
`graph` and `reproduce` are rooms of their own.

Shared, in the order in which a frame passes them: `run` (what one run has at hand), `frames` (from
a composition to its digests), then `causes` (why a frame moved), `caches` (what is kept and passed
on), `exports` (files that people watch), and `gate` (what is said of it). Imports point backwards.

An operation yields events and returns a value; it never prints and never exits.
"""
