"""What a gate says of a composition, and in which forms.

`judging` compares with the ledger, `moves` measures what moved; `annotations`, `junit` and `report`
are three forms of the same answer.
"""
