"""Targets that do on command what real ones do by accident."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time

import nfbuild
from nfbuild.errors import DrawError, FontError, MediaError, NfbuildError, Place
from nfbuild.execute.base import Deferred


class Obliging:
    """Does what a task `(verb, *arguments)` says; a plain number is squared."""

    def __init__(self, value):
        self.value = value

    def warm(self):
        if self.value == "refuse":
            raise FontError("face `x.otf` is not TrueType", hint="convert it")
        if self.value == "burst":
            raise RuntimeError("no rasterizer here")
        if self.value == "die":
            sys.stderr.write("cannot find libthorvg\n")
            sys.stderr.flush()
            os._exit(7)
        if self.value == "hang":
            time.sleep(600)
        if self.value == "slow":
            time.sleep(0.3)

    def perform(self, task):
        if isinstance(task, int):
            return task * task
        verb, *arguments = task
        return getattr(self, verb)(*arguments)

    def declares(self, task):
        return task[2:] if isinstance(task, tuple) and task[0] == "read" else ()

    # ordinary
    def setup(self):
        return self.value

    def pid(self, seconds=0.0):
        time.sleep(seconds)
        return os.getpid()

    def spin(self, seconds):
        end = time.process_time() + seconds
        while time.process_time() < end:
            pass
        return os.getpid()

    def surroundings(self):
        return dict(os.environ), os.getcwd(), sys.pycache_prefix, sys.dont_write_bytecode

    def chat(self, text):
        print(text, flush=True)
        os.write(1, text.encode())
        return sys.stdin.read() if sys.stdin else ""

    def big(self, size):
        return b"x" * size

    def length(self, data):
        return len(data)

    def home(self):
        return nfbuild.__file__

    def later(self, folder, name, seconds=0.0):
        def finish():
            time.sleep(seconds)
            with open(os.path.join(folder, name), "wb") as file:
                file.write(name.encode())
            return name

        return Deferred(finish)

    def later_fails(self):
        def finish():
            raise DrawError("no space left", hint="make room")

        return Deferred(finish)

    def later_dies(self):
        return Deferred(lambda: os.kill(os.getpid(), signal.SIGKILL))

    def once(self, marker, verb, *arguments):
        """Do `verb` the first time only, by a marker file."""
        try:
            os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return "second time"
        return getattr(self, verb)(*arguments)

    # errors
    def refuse(self, file, line):
        raise MediaError("picture `a.png` is missing", place=Place(file, line), hint="add it")

    def burst(self):
        raise ValueError("a fault")

    def odd_error(self):
        raise Odd("needs two")

    def unpicklable(self):
        return lambda: 0

    # deaths
    def die(self, number):
        os.kill(os.getpid(), number)
        time.sleep(60)

    def leave(self, status):
        sys.exit(status)

    def vanish(self, status):
        os._exit(status)

    def crash(self):
        ctypes.string_at(0)

    def sleep(self, seconds):
        time.sleep(seconds)

    def spin_in_c(self):
        # The interpreter lock is held all the while, as by a library that does not let it go.
        return sum(iter(int, 1))

    def hoard(self):
        return bytearray(1 << 62)

    def crash_full(self, size):
        kept = bytearray(b"x") * size
        self.crash()
        return kept

    def hoard_slowly(self):
        kept = []
        while True:
            kept.append(bytearray(b"x") * (16 << 20))

    # undeclared
    def read(self, path, *_declared):
        with open(path, "rb") as file:
            return file.read()

    def write(self, path):
        with open(path, "wb") as file:
            file.write(b"x")

    def look(self, path):
        return os.path.exists(path) and sorted(os.listdir(path))

    def probe(self, path):
        try:
            self.read(path)
        except FileNotFoundError:
            return "not there"

    def later_reads(self, path):
        return Deferred(lambda: self.read(path))

    def lazily(self):
        import colorsys

        return colorsys.rgb_to_hsv(1, 1, 1)

    def program(self):
        return subprocess.run(["true"], check=True).returncode

    def network(self):
        with socket.socket() as line:
            return line.connect_ex(("127.0.0.1", 9))

    def read_in_c(self, path):
        libc = ctypes.CDLL(None)
        descriptor = libc.open(os.fsencode(path), os.O_RDONLY)
        if descriptor < 0:
            return None
        data = os.read(descriptor, 100)
        os.close(descriptor)
        return data


class Odd(NfbuildError):
    """An error that cannot be made again from its parts."""

    def __init__(self, one, two=None):
        super().__init__(f"{one}{two}")
        self.two = lambda: two

    def __reduce__(self):
        return (Odd, (self.two,))


class Plain:
    """A target without any wider capability."""

    def __init__(self, value):
        self.value = value

    def warm(self):
        pass

    def perform(self, task):
        with open(task, "rb") as file:
            return file.read()
