"""Our dataclasses against the standard library's: made by either, a class behaves alike."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pickle
import pkgutil
import sys
import threading
import types
from typing import ClassVar

import pytest

import nfbuild
from nfbuild.dataclasses import dataclass, field, replace

OURS = "from nfbuild.dataclasses import"
STANDARD = "from dataclasses import"


def names_of_modules():
    """Every module of the package that makes dataclasses."""
    found = []
    for one in pkgutil.walk_packages(nfbuild.__path__, "nfbuild."):
        if one.name.endswith("__main__"):
            continue
        spec = importlib.util.find_spec(one.name)
        with open(spec.origin, encoding="utf-8") as file:
            source = file.read()
            if OURS in source and "@dataclass" in source:
                found.append(one.name)
    return found


def pairs(name):
    """Yield the dataclasses of a module, each with the one that the standard library makes."""
    module = importlib.import_module(name)
    with open(module.__file__, encoding="utf-8") as file:
        source = file.read().replace(OURS, STANDARD)
    twin = types.ModuleType(name)
    twin.__file__, twin.__package__ = module.__file__, module.__package__
    twin.__dict__["__path__"] = getattr(module, "__path__", [])
    standing, sys.modules[name] = sys.modules[name], twin
    try:
        exec(compile(source, module.__file__, "exec"), twin.__dict__)
    finally:
        sys.modules[name] = standing
    for key, ours in vars(module).items():
        if isinstance(ours, type) and ours.__module__ == name and "__fields__" in vars(ours):
            yield ours, getattr(twin, key)


def parameters(cls):
    """What `__init__` takes: names, kinds and whether there is a default."""
    if cls.__dict__.get("__fields__"):
        attempt(cls)  # it is made when it is used
    signature = inspect.signature(cls.__init__)
    return [
        (one.name, one.kind, one.default is not inspect.Parameter.empty)
        for one in signature.parameters.values()
    ]


def attempt(cls, change=None):
    """Return an object with texts for the fields that must be given, or the error's kind."""
    required = [
        one.name
        for one in dataclasses.fields(twins[cls])
        if one.init
        and one.default is dataclasses.MISSING
        and one.default_factory is dataclasses.MISSING
    ]
    try:
        return cls(**{name: name + ("!" if name == change else "") for name in required})
    except Exception as error:  # noqa: BLE001  a `__post_init__` may refuse texts: both must
        return type(error)


twins = {}


@pytest.mark.parametrize("name", names_of_modules())
def test_every_class_is_as_the_standard_library_makes_it(name):
    """Signature, equality, hash, text, slots, what is frozen, what patterns match."""
    seen = 0
    for ours, theirs in pairs(name):
        twins[ours] = twins[theirs] = theirs
        one, other = attempt(ours), attempt(theirs)
        assert parameters(ours) == parameters(theirs), ours
        assert ours.__match_args__ == theirs.__match_args__
        assert getattr(ours, "__slots__", None) == getattr(theirs, "__slots__", None)
        assert (ours.__hash__ is None) == (theirs.__hash__ is None), ours
        assert ours.__qualname__ == theirs.__qualname__
        # The standard library writes a text where there is none.
        assert ours.__doc__ == (theirs.__doc__ if ours.__doc__ else None)
        seen += 1
        if isinstance(one, type):
            assert one.__name__ == other.__name__, ours
            continue
        assert repr(one) == repr(other) or " at 0x" in repr(one)
        assert (one == attempt(ours)) == (other == attempt(theirs))
        for each in (part.name for part in dataclasses.fields(theirs)):
            changed, their_changed = attempt(ours, each), attempt(theirs, each)
            assert (one == changed) == (other == their_changed), (ours, each)
            assert refuses(one, each) == refuses(other, each)
        if ours.__hash__ is object.__hash__:
            assert theirs.__hash__ is object.__hash__
        else:
            assert outcome_of_hash(one) == outcome_of_hash(other), ours
    assert seen


def refuses(one, name):
    """Tell whether assigning to a field is an error."""
    try:
        setattr(one, name, getattr(one, name, None))
    except AttributeError:
        return True
    return False


def outcome_of_hash(one):
    """The hash, or the kind of the error: both hash the tuple of the same fields."""
    try:
        return hash(one)
    except TypeError as error:
        return type(error)


@dataclass(frozen=True, slots=True)
class Point:
    """Two numbers and a list that is made anew."""

    x: int
    y: int = 2
    seen: list[int] = field(default_factory=list, compare=False, repr=False)
    shared: ClassVar[int] = 7


@dataclass(frozen=True, order=True)
class Base:
    """One field."""

    x: int


@dataclass(frozen=True, order=True)
class Child(Base):
    """One more, and one that `__init__` does not take."""

    y: int = 0
    sum: int = field(init=False, repr=False)

    def __post_init__(self):
        object.__setattr__(self, "sum", self.x + self.y)


def test_pickles_and_replacements_survive():
    """Slots and frozen fields too; what is not compared comes along."""
    one = Point(1, seen=[3])

    again = pickle.loads(pickle.dumps(one))
    assert (again, again.seen) == (one, [3])
    assert replace(one, y=5) == Point(1, 5)
    assert replace(Child(1, 2), y=5).sum == 6
    assert Point(1).seen is not Point(1).seen
    with pytest.raises(ValueError, match="`sum` is not set"):
        replace(Child(1), sum=9)
    with pytest.raises(TypeError, match="unexpected keyword"):
        replace(one, z=5)
    with pytest.raises(TypeError, match="was not made by"):
        replace(dataclasses.make_dataclass("Other", ["x"])(1), x=2)


def test_children_have_their_parents_fields():
    """Equality asks for the very class; order goes field by field."""
    assert Child(1, 2) != Base(1)
    assert Child(1, 2).__eq__(Base(1)) is NotImplemented
    assert sorted([Child(2), Child(1, 5), Child(1, 2)]) == [Child(1, 2), Child(1, 5), Child(2)]
    assert repr(Child(1, 2)) == "Child(x=1, y=2)"
    with pytest.raises(TypeError, match="not supported"):
        assert Child(1) < Base(2)


def test_a_class_that_cannot_be_made_says_so():
    """The mistakes that the standard decorator refuses, and annotations that are not text."""

    def made(annotations, **members):
        return dataclass(type("Wrong", (), {"__annotations__": annotations, **members}))

    with pytest.raises(TypeError, match="y has no default"):
        made({"x": "int", "y": "int"}, x=1)
    with pytest.raises(ValueError, match="share"):
        made({"x": "list"}, x=[])
    with pytest.raises(TypeError, match="must be text"):
        made({"x": int})


def test_first_objects_made_by_many_threads_are_whole():
    """The first call compiles `__init__`; whoever comes meanwhile gets an object all the same."""
    for _ in range(50):
        members = {"__annotations__": {"x": "int", "y": "int"}, "y": 2}
        cls = dataclass(frozen=True)(type("Fresh", (), members))
        made, start = [], threading.Barrier(8)

        def make(cls=cls, made=made, start=start):
            start.wait()
            made.append(cls(1))

        threads = [threading.Thread(target=make) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [(one.x, one.y) for one in made] == [(1, 2)] * 8
