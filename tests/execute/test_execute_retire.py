"""Workers that are let go before their pool is closed leave no process behind."""

from __future__ import annotations

import os
import sys

import pytest

from nfbuild.execute.base import WorkerSetup
from nfbuild.execute.pool import ProcessPool


@pytest.mark.skipif(sys.platform == "win32", reason="processes are looked for by a signal")
def test_retired_workers_are_gone_when_the_pool_is_closed():
    """Not one is left, not even as a zombie."""
    pool = ProcessPool(WorkerSetup("builtins:list", ()), workers=2)
    pool.start()
    pids = pool.pids
    pool.retire()
    assert pool.pids == ()
    pool.close()

    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_workers_after_a_rest_have_numbers_of_their_own_and_still_give_way():
    """A profile must not take two workers for one, and encoders must not lose their turn."""
    pool = ProcessPool(WorkerSetup("builtins:list", ()), workers=2)
    pool.give_way()
    first = [worker.number for worker in pool._crew.workers]
    pool.retire()
    pool.start()
    crew = pool._crew

    assert crew._gives_way
    assert {worker.number for worker in crew.workers}.isdisjoint(first)
    pool.close()
