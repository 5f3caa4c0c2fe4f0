"""Executors of both kinds made of the doubles, and how their outcomes are read."""

from __future__ import annotations

from nfbuild.execute.base import Done, Job, WorkerSetup
from nfbuild.execute.inline import InlineExecutor
from nfbuild.execute.pool import ProcessPool

OBLIGING = "execute_doubles:Obliging"


def make_inline(**setup):
    return InlineExecutor(WorkerSetup(**{"target": OBLIGING, **setup}))


def make_pool(workers=2, shuffle=None, **setup):
    return ProcessPool(WorkerSetup(**{"target": OBLIGING, **setup}), workers, shuffle=shuffle)


def jobs_of(tasks, group=""):
    return [Job(position, task, group) for position, task in enumerate(tasks)]


def merged(outcomes):
    """Outcomes by position, as every caller has to take them."""
    by_position = {}
    for outcome in outcomes:
        assert outcome.position not in by_position, "two outcomes for one job"
        by_position[outcome.position] = outcome
    return dict(sorted(by_position.items()))


def values(outcomes):
    """The values by position; every outcome must be one."""
    by_position = merged(outcomes)
    assert [o for o in by_position.values() if not isinstance(o, Done)] == []
    return {position: outcome.value for position, outcome in by_position.items()}
