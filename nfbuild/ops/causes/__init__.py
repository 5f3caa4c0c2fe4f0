"""Why a frame moved: from two manifests to words.

`snapshot` and `history` fetch what stood there before, `sourcediff` and `scenediff` compare,
`places` finds the line, `reasons` makes reasons as fine as the recorded source allows.
"""
