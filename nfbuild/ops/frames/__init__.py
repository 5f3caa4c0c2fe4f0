"""The way of a frame from its composition to its digest.

`films` loads and bakes, `questions` are the distinct frames of a run, `recall` finds what a cache
knows, `drawing` asks workers for the rest, cut into `stretches`; `sharing` lets builds side by side
divide the work and `underway` says how far it is. `filmrecord` remembers a whole composition.
`audit`, `sampling` and `probe` draw again what is known, to falsify it; `findings` are what the
scene has to say to an author.
"""
