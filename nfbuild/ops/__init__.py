"""Operations: one file per verb, over the pieces that the verbs share.

Verbs: `build`, `status`, `verify`, `digest`, `frame`, `explain`, `graph`, `check`, `reproduce`,
`accept`, `collect`, `doctor`. Shared: `session` (what one run has at hand), `films` (a composition
being built), `questions` (the distinct frames of a run), `drawing` (questions into answers),
`state` (what a build with nothing to do may rely on).

An operation yields events and returns a value; it never prints and never exits.
"""
