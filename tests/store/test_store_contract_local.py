"""The contract, on the stores of this process and this machine."""

import pytest
from store_contract import PrunableContract

from nfbuild.store.directory import open_directory
from nfbuild.store.local import open_cache
from nfbuild.store.memory import MemoryStore


class TestMemory(PrunableContract):
    @pytest.fixture
    def store(self):
        return MemoryStore()


class TestLocal(PrunableContract):
    @pytest.fixture
    def store(self, tmp_path):
        store = open_cache(str(tmp_path / "cache"))
        yield store
        store.close()


class TestLocalOnNetwork(PrunableContract):
    """A cache on a network file system keeps its records as plain files."""

    @pytest.fixture
    def store(self, tmp_path, monkeypatch):
        monkeypatch.setattr("nfbuild.store.local.filesystem_type", lambda _root: "nfs4")
        store = open_cache(str(tmp_path / "cache"))
        yield store
        assert not (tmp_path / "cache" / "table").exists()


class TestDirectory(PrunableContract):
    @pytest.fixture
    def store(self, tmp_path):
        return open_directory(str(tmp_path / "shared"), read_only=False)
