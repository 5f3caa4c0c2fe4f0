"""What becomes of caches when the frames are known.

`settling` takes over and passes on what was found, `neighbours` knows the stores around the local
one, `collecting` says what may go and what goes last.
"""
