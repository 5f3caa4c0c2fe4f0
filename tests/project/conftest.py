"""A project on disk that a test writes and loads."""

from __future__ import annotations

import os

import pytest

from nfbuild.project import Discovery, Project, discover, load


class Space:
    """A folder with a configuration; `environment` stands for the process's."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.environment: dict[str, str] = {}

    def write(self, name: str, text: str | bytes = "") -> str:
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(text.encode() if isinstance(text, str) else text)
        return path

    def config(self, text: str | bytes) -> None:
        self.write("nfbuild.toml", text)

    def load(self, start: str = "") -> Project:
        return load(os.path.join(self.folder, start), self.environment)

    def discover(self) -> Discovery:
        return discover(self.load())

    def names(self) -> list[str]:
        return [one.name for one in self.discover().compositions]


@pytest.fixture
def space(tmp_path) -> Space:
    return Space(str(tmp_path))
