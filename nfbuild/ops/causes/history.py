"""Git, as far as explanations need it: old versions of files, and who last wrote an entry.

Git is asked, never told: nothing here writes. Where there is no git or no repository, there is no
history, which is an answer and no error.
"""

from __future__ import annotations

import os
import subprocess

from nfbuild.dataclasses import dataclass
from nfbuild.errors import UsageError

_TIMEOUT_SECONDS = 30


@dataclass(frozen=True)
class Commit:
    """One commit: its full name and its subject."""

    name: str
    subject: str


class History:
    """The repository that a project at `root` stands in."""

    def __init__(self, root: str) -> None:
        self._root = root

    def exists(self) -> bool:
        """Tell whether there is a repository with a commit."""
        return self._git("rev-parse", "--verify", "--quiet", "HEAD") is not None

    def resolve(self, revision: str) -> str:
        """Return the commit that a revision names; raises UsageError where it names none."""
        found = None
        if not revision.startswith("-"):
            found = self._git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
        if found is None:
            raise UsageError(
                f"`{revision}` names no commit here", hint="`git log` lists the commits"
            )
        return found.decode("ascii").strip()

    def read(self, revision: str, path: str) -> bytes | None:
        """Return a project file as of a revision, or None where it was not there."""
        return self._git("show", f"{revision}:./{path}")

    def last_writer(self, path: str) -> str | None:
        """Return the commit that last wrote a project file, or None."""
        found = self._git("log", "-1", "--format=%H", "--", path)
        return found.decode("ascii").strip() or None if found is not None else None

    def writers(self, path: str, since: str) -> list[Commit]:
        """Return the commits after `since` that touched a project file, oldest first."""
        found = self._git("log", "--reverse", "--format=%H %s", f"{since}..HEAD", "--", path)
        if found is None:
            return []
        rows = [line.partition(" ") for line in found.decode("utf-8", "replace").splitlines()]
        return [Commit(name, subject) for name, _, subject in rows]

    def _git(self, *words: str) -> bytes | None:
        environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
        try:
            ran = subprocess.run(
                ["git", "--no-pager", *words],
                cwd=self._root,
                env=environment,
                capture_output=True,
                stdin=subprocess.DEVNULL,
                timeout=_TIMEOUT_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return ran.stdout if ran.returncode == 0 else None
