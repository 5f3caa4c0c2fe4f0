"""The surroundings of every test: none of the machine's own settings reach a build under test."""

from __future__ import annotations

import os

# A pipeline locks the ledger, moves the cache, asks for annotations: each test says so itself.
for _name in list(os.environ):
    if _name == "CI" or _name.startswith(("NFBUILD_CACHE", "NFBUILD_SHARED", "GITHUB_")):
        del os.environ[_name]
