"""A project in a folder of its own, driven the way a user drives it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from nfbuild.dataclasses import dataclass, field
from nfbuild.events import FrameRendered
from nfbuild.ops.build import build
from nfbuild.ops.run.options import read_options
from nfbuild.ops.run.session import open_session
from nfbuild.ops.verify import VerifyOptions, verify, verify_settings

HEAD = '<svg xmlns="http://www.w3.org/2000/svg" data-width="64" data-height="36" data-fps="10"'

MOVING = (
    HEAD
    + """ data-duration="1">
  <rect id="bg" width="64" height="36" fill="#102030"/>
  <rect id="box" x="2" y="10" width="10" height="10" fill="#ff8800"/>
  <script type="application/nanoframes+json"><![CDATA[
  {"animations": [{"target": "#box", "keyframes": [
    {"t": 0, "transform": {"translate": [0, 0]}},
    {"t": 0.5, "transform": {"translate": [40, 0]}}
  ]}]}
  ]]></script>
</svg>
"""
)

STILL = (
    HEAD
    + """ data-duration="0.5">
  <rect width="64" height="36" fill="#203040"/>
  <text x="4" y="24" font-size="16" fill="#fff">Still</text>
</svg>
"""
)


@dataclass
class Ran:
    """What a build or a verification did."""

    report: object
    events: list[object]
    exit: int

    @property
    def rendered(self) -> list[tuple[str, int]]:
        """The frames that were rasterized: composition and first frame number."""
        return sorted(
            (event.composition, event.number)
            for event in self.events
            if isinstance(event, FrameRendered)
        )

    def row(self, name: str) -> object:
        """The row of one composition."""
        return next(row for row in self.report.rows if row.name == name)


@dataclass
class Space:
    """A project folder."""

    root: Path
    configuration: str = "[project]\n"
    settings: dict[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.write("nfbuild.toml", self.configuration)

    def write(self, path: str, content: str | bytes) -> Path:
        """Write a file of the project."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            content = content.encode()
        target.write_bytes(content)
        return target

    def read(self, path: str) -> str:
        """Read a file of the project."""
        return (self.root / path).read_text(encoding="utf-8")

    def compose(self, name: str, content: str = MOVING) -> None:
        """Write a composition."""
        self.write(f"compositions/{name}.nf.svg", content)

    def edit(self, path: str, before: str, after: str) -> None:
        """Replace a text that must be there."""
        text = self.read(path)
        assert before in text, f"`{before}` is not in {path}"
        self.write(path, text.replace(before, after))

    def build(self, *names: str, target: str | None = None, **options: object) -> Ran:
        """Build in this process; frames are drawn by real workers."""
        options.setdefault("jobs", 1)
        options.setdefault("record", not options.get("locked"))
        chosen, settings = read_options(list(names), str(self.root), **options)
        return self._run(build, chosen, self._with(settings, target))

    def verify(self, *names: str, target: str | None = None, **options: object) -> Ran:
        """Verify in this process."""
        chosen = VerifyOptions(names=names, start=str(self.root), **options)
        return self._run(verify, chosen, self._with(verify_settings(1), target))

    def _with(self, settings: object, target: str | None) -> object:
        from nfbuild.dataclasses import replace

        return settings if target is None else replace(settings, target=target, audited=False)

    def _run(self, operation: object, options: object, settings: object) -> Ran:
        events = []
        with open_session(str(self.root), settings) as session:
            running = operation(session, options)
            while True:
                try:
                    events.append(next(running))
                except StopIteration as done:
                    return Ran(done.value, events, done.value.exit_code)

    def run(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run the program as a process of its own."""
        env = {key: value for key, value in os.environ.items() if key != "CI"}
        env.update(environment)
        return subprocess.run(
            [sys.executable, "-m", "nfbuild", *words],
            cwd=self.root,
            env=env,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def json(self, *words: str, **environment: str) -> dict[str, object]:
        """Run the program with `--json` and return its document."""
        ran = self.run(*words, "--json", **environment)
        return json.loads(ran.stdout)
