"""What the tests of the gate share: verifying with planted faults, toolchains and entries."""

from __future__ import annotations

import json
from pathlib import Path

from opspace import Ran, Space

from nfbuild.dataclasses import replace
from nfbuild.ops.build import build
from nfbuild.ops.run import session
from nfbuild.ops.run.options import read_options
from nfbuild.ops.run.toolchain import Toolchain, read_toolchain
from nfbuild.ops.verify import VerifyOptions, verify, verify_settings

FAULTY = "gate_doubles:FaultyWorker"


def faulty(settings, fault):
    """Return settings whose workers draw what `fault` names wrong (see `gate_doubles`)."""
    return replace(
        settings,
        target=FAULTY,
        audited=False,
        environment={"NFBUILD_TEST_FAULT": fault},
    )


def verify_with(space: Space, fault: str = "", *names: str, **options) -> Ran:
    """Verify with a rasterizer that draws wrong what `fault` names."""
    chosen = VerifyOptions(names=names, start=str(space.root), **options)
    return space._run(verify, chosen, faulty(verify_settings(1), fault))


def build_with(space: Space, fault: str = "", *names: str, **options) -> Ran:
    """Build with a rasterizer that draws wrong what `fault` names; `fresh` reads no cache."""
    fresh = options.pop("fresh", False)
    options.setdefault("record", not options.get("locked"))
    chosen, settings = read_options(list(names), str(space.root), jobs=1, **options)
    return space._run(build, chosen, replace(faulty(settings, fault), fresh=fresh))


def other_toolchain(monkeypatch, **moved: str) -> None:
    """Make every session from now on believe that these parts of the toolchain are others."""
    real = read_toolchain()
    base = {**real.base, **{name.replace("__", "/"): value for name, value in moved.items()}}
    set_toolchain(monkeypatch, replace(real, base=base, _parts={}))


def set_toolchain(monkeypatch, toolchain: Toolchain) -> None:
    """Make every session from now on draw with `toolchain`."""
    monkeypatch.setattr(session, "read_toolchain", lambda: toolchain)


def entry_path(space: Space, name: str) -> Path:
    """Where a composition's entry stands."""
    return space.root / f"ledger/compositions/{name}.json"


def edit_entry(space: Space, name: str, change) -> None:
    """Change an entry's JSON in place and write it back the way nfbuild writes."""
    from nfbuild.ledger.canonical import read, write

    path = entry_path(space, name)
    entry = change(read(path.read_bytes(), str(path), name))
    path.write_bytes(write(entry))


def entry_json(space: Space, name: str) -> dict:
    """An entry as JSON."""
    return json.loads(entry_path(space, name).read_text(encoding="utf-8"))


def verdicts(ran: Ran) -> dict[str, str]:
    """Verdicts by composition name."""
    return {row.name: row.verdict for row in ran.report.rows}
