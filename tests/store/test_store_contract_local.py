"""The contract, on the stores of this process and this machine."""

import pytest
from store_contract import PrunableContract

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
