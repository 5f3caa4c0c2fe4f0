"""Option and argument types that several commands share."""

from __future__ import annotations

from typing import Annotated, Any

import typer

PLAIN: dict[str, Any] = {"rich_markup_mode": None, "pretty_exceptions_enable": False}
"""What keeps Typer from loading rich for a help text."""

Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="[NAME]...", help="names, file paths or patterns", show_default=False),
]
Name = Annotated[str, typer.Argument(metavar="NAME", help="a name or a file path")]
Start = Annotated[str, typer.Option("-C", metavar="DIR", help="look for nfbuild.toml from here")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="say only what went wrong")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="say more")]
Json = Annotated[bool, typer.Option("--json", help="print one JSON document and nothing else")]
Jobs = Annotated[int | None, typer.Option("-j", "--jobs", min=1, help="worker processes")]
Scale = Annotated[str, typer.Option("--scale", metavar="F", help="raster size, 1 is the canvas")]
Seed = Annotated[int, typer.Option("--seed", metavar="S", help="seed of every random choice")]
