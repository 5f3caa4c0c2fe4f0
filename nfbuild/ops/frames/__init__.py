"""The way of a frame from its composition to its digest.

`films` loads and bakes, `questions` are the distinct frames of a run, `recall` finds what a cache
knows, `drawing` asks workers for the rest, cut into `stretches`; `sharing` lets builds side by side
divide the work, and `underway` holds what the steps of one build share. `filmrecord` remembers a
whole composition. To falsify what is known, `sampling` chooses, `audit` compares with the cache and
`probe` draws twice what may depend on the clock; `findings` are what the scene has to say to an
author.
"""
