"""The proof that parallel execution changes no byte.

`proof` is the operation, `surroundings` the matrix of what is varied, `trial` one build in a
process of its own (`one`), `evidence` what is compared, `certificate` what was shown.
"""
