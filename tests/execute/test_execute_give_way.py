"""Workers that give way: the parent's own work goes first, where the build asks for it."""

from __future__ import annotations

import os
import sys

import pytest

from nfbuild.execute.base import WorkerSetup
from nfbuild.execute.pool import ProcessPool


@pytest.mark.skipif(sys.platform == "win32", reason="priorities are set by `setpriority`")
def test_workers_give_way_when_they_are_asked_to_and_those_hired_later_too():
    """Before that they run as their parent does."""
    here = os.getpriority(os.PRIO_PROCESS, 0)
    with ProcessPool(WorkerSetup("builtins:list", ()), workers=2) as pool:
        pool.start()
        assert [os.getpriority(os.PRIO_PROCESS, pid) for pid in pool.pids] == [here, here]
        pool.give_way()
        pool._crew.hire()
        given = [os.getpriority(os.PRIO_PROCESS, pid) for pid in pool.pids]

    assert given == [min(19, max(here, 5))] * 3
