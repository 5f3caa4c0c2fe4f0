"""Option and argument types that several commands share."""

from __future__ import annotations

from typing import Annotated

from nfbuild.cli.door import Argument, Option

MOST_JOBS = 512
"""More workers than any processor has cores are a mistake of the hand."""

Names = Annotated[
    list[str] | None,
    Argument(metavar="[NAME]...", help="names, file paths or patterns", show_default=False),
]
Name = Annotated[str, Argument(metavar="NAME", help="a name or a file path")]
Start = Annotated[str, Option("-C", metavar="DIR", help="look for nfbuild.toml from here")]
Quiet = Annotated[bool, Option("--quiet", "-q", help="say only what went wrong")]
Verbose = Annotated[bool, Option("--verbose", "-v", help="say more")]
Json = Annotated[bool, Option("--json", help="print one JSON document and nothing else")]
Jobs = Annotated[int | None, Option("-j", "--jobs", min=1, max=MOST_JOBS, help="worker processes")]
Scale = Annotated[str, Option("--scale", metavar="F", help="raster size, 1 is the canvas")]
Seed = Annotated[int, Option("--seed", metavar="S", help="seed of every random choice")]
