"""Messages between a pool and its workers: a length, then a pickle, over one stream.

Only this program's own processes are at the two ends, so pickles are no danger here. Small
things are plain tuples whose first item is the kind; tasks and answers are pickled on their own,
so that one that cannot be read spoils nothing else.
"""

from __future__ import annotations

import pickle
import struct
from typing import Any

_LENGTH = struct.Struct("!Q")

# parent to worker
SETUP = 1  # (SETUP, number, WorkerSetup)
TASKS = 2  # (TASKS, [(serial, pickled task), ...])
# worker to parent
READY = 3  # (READY, begun, warm): nanoseconds of `time.perf_counter_ns`
BROKEN = 4  # (BROKEN, NfbuildError): the worker cannot be made; it ends after this
ANSWER = 5  # (ANSWER, serial, pickled value, begun, performed, finished): nanoseconds too
REFUSAL = 6  # (REFUSAL, serial, NfbuildError, trace or None)
ENDED = 7  # (ENDED, serial, cause, fact): the worker ends after this


def pack(message: tuple[Any, ...]) -> bytes:
    """Return one message as it travels."""
    body = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(body)) + body


class Inbox:
    """Cuts a stream of bytes back into messages."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[tuple[Any, ...]]:
        """Take the next bytes of the stream; return the messages that are complete now."""
        buffer = self._buffer
        buffer += data
        messages = []
        at = 0
        while len(buffer) - at >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(buffer, at)
            end = at + _LENGTH.size + length
            if len(buffer) < end:
                break
            with memoryview(buffer)[at + _LENGTH.size : end] as body:
                messages.append(pickle.loads(body))  # noqa: S301  both ends are this program
            at = end
        del buffer[:at]
        return messages
