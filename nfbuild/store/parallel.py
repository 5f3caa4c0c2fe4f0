"""Waiting on slow places: many calls side by side, and one call no longer than a deadline.

The threads are daemons: a call that hangs in the kernel or in a library never keeps a process
alive. Not here: processes (`execute`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from nfbuild.errors import Unavailable

Item = TypeVar("Item")
Value = TypeVar("Value")

WIDTH: Final = 8
"""Calls to one tier at a time."""


def fan_out(
    act: Callable[[Item], Value], items: Iterable[Item], *, width: int = WIDTH
) -> list[Value]:
    """Return what `act` returns for each item, in the order of the items.

    The first exception stops the rest and is raised; a call that has begun is waited for.
    """
    waiting = list(enumerate(items))[::-1]
    results: list[tuple[int, Value]] = []
    failures: list[BaseException] = []

    def work() -> None:
        while not failures:
            try:
                position, item = waiting.pop()
            except IndexError:
                return
            try:
                results.append((position, act(item)))
            except BaseException as error:  # noqa: BLE001  it is raised again by the caller's thread
                failures.append(error)

    count = min(width, len(waiting))
    if count <= 1:
        work()
    else:
        threads = [threading.Thread(target=work, daemon=True) for _ in range(count)]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        except BaseException as error:
            failures.append(error)  # interrupted: the others begin nothing new
            raise
    if failures:
        raise failures[0]
    return [value for _, value in sorted(results, key=lambda result: result[0])]


def bounded(act: Callable[[], Value], seconds: float, where: str) -> Value:
    """Return what `act` returns, or raise `Unavailable` when it takes longer than `seconds`.

    The call itself cannot be ended: its thread is left behind, and its result is dropped.
    """
    results: list[Value] = []
    failures: list[BaseException] = []

    def work() -> None:
        try:
            results.append(act())
        except BaseException as error:  # noqa: BLE001  it is raised again by the caller's thread
            failures.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    if failures:
        raise failures[0]
    if not results:
        raise Unavailable(f"{where}: no answer for {seconds:g} s", code="timeout")
    return results[0]
