"""Dataclasses that cost nothing until they are used, in the standard library's own words.

The standard decorator writes and compiles up to six methods for every class whenever it is
imported, 0.5 to 1.2 ms each time: that was a third of what `nfbuild verify` spent on imports, for
a hundred classes of which a run makes objects of half. A class takes 0.03 ms here. Comparing,
hashing and showing are shared functions over the fields; only `__init__` is compiled, when the
first object is made.

What is supported means what it means in the standard library (held to it by a test over every
class of this package): `frozen`, `slots`, `eq`, `order`, inheritance, `field` with `default`,
`default_factory`, `init`, `repr` and `compare`, `ClassVar`, `__post_init__` and `replace`. What is
not supported cannot be imported from here. Annotations must be text, as they are under
`from __future__ import annotations`. To a type checker these are the standard ones.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass, field, replace

__all__ = ["dataclass", "field", "replace"]

_MISSING: Any = object()


class _Field(NamedTuple):
    """How one field is set, shown and compared."""

    default: Any = _MISSING
    default_factory: Any = _MISSING
    init: bool = True
    repr: bool = True
    compare: bool = True

    @property
    def is_optional(self) -> bool:
        return self.default is not _MISSING or self.default_factory is not _MISSING


def _dataclass(cls: Any = None, /, **options: bool) -> Any:
    """See `dataclasses.dataclass`."""
    return _made(cls, **options) if cls is not None else lambda one: _made(one, **options)


def _replace(one: Any, /, **changes: Any) -> Any:
    """See `dataclasses.replace`; the standard library's own classes are not for this one."""
    fields: dict[str, _Field] | None = getattr(type(one), "__fields__", None)
    if fields is None:
        raise TypeError(f"a {type(one).__qualname__} was not made by this module's `dataclass`")
    for name, known in fields.items():
        if not known.init:
            if name in changes:
                raise ValueError(f"field `{name}` is not set by `__init__`")
        elif name not in changes:
            changes[name] = getattr(one, name)
    return one.__class__(**changes)


def _made(
    cls: Any, *, frozen: bool = False, slots: bool = False, eq: bool = True, order: bool = False
) -> Any:
    own = _own_fields(cls)
    fields: dict[str, _Field] = {}
    for base in reversed(cls.__mro__[1:]):
        fields.update(base.__dict__.get("__fields__", {}))
    fields.update(own)
    _check_order(cls, fields)

    members: dict[str, Any] = {
        "__match_args__": tuple(name for name, one in fields.items() if one.init),
        "__init__": _init_when_used(fields, frozen),
        "__repr__": _repr([name for name, one in fields.items() if one.repr]),
    }
    values = _values([name for name, one in fields.items() if one.compare])
    if eq:
        members["__eq__"] = _eq(values)
    if order:
        members.update(_ordering(values))
    if frozen:
        members.update(__setattr__=_refuse_to_set, __delattr__=_refuse_to_delete)
    # What the class has written itself stays.
    members = {name: value for name, value in members.items() if name not in cls.__dict__}
    if eq and cls.__dict__.get("__hash__") is None:
        # A class with an `__eq__` of its own has been given None by Python.
        members["__hash__"] = _hash(values) if frozen else None
    members["__fields__"] = fields
    if slots:
        return _with_slots(cls, members, own, frozen)
    for name, value in members.items():
        setattr(cls, name, value)
    return cls


def _own_fields(cls: Any) -> dict[str, _Field]:
    """Return the fields that a class adds, and leave their defaults alone on it."""
    own: dict[str, _Field] = {}
    for name, annotation in cls.__annotations__.items():
        if not isinstance(annotation, str):
            raise TypeError(f"{cls.__qualname__}.{name}: an annotation must be text")
        if annotation.startswith("ClassVar"):
            continue
        given = cls.__dict__.get(name, _MISSING)
        one = given if isinstance(given, _Field) else _Field(given)
        if one is given:
            if one.default is _MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, one.default)
        if one.default is not _MISSING and one.default.__class__.__hash__ is None:
            raise ValueError(f"{cls.__qualname__}.{name}: all objects would share the default")
        own[name] = one
    return own


def _check_order(cls: Any, fields: dict[str, _Field]) -> None:
    optional = False
    for name, one in fields.items():
        if one.init and optional and not one.is_optional:
            raise TypeError(f"{cls.__qualname__}.{name} has no default and follows one that has")
        optional = optional or (one.init and one.is_optional)


def _init_when_used(fields: dict[str, _Field], frozen: bool) -> Callable[..., None]:
    def __init__(self: Any, *args: Any, **named: Any) -> None:  # noqa: N807
        # Of the class that defines it, which may be a base of the object's. Two threads that come
        # here at once make the same.
        mro = type(self).__mro__
        owner = next((one for one in mro if one.__dict__.get("__init__") is __init__), None)
        made = _compiled_init(owner or mro[0], fields, frozen)
        if owner is not None:
            type.__setattr__(owner, "__init__", made)
        made(self, *args, **named)

    return __init__


def _compiled_init(owner: Any, fields: dict[str, _Field], frozen: bool) -> Callable[..., None]:
    scope: dict[str, Any] = {"_missing": _MISSING, "_set": object.__setattr__}
    parameters, lines = ["self"], []
    for name, one in fields.items():
        value, parameter = name, name
        if one.default_factory is not _MISSING:
            scope[f"_make_{name}"] = one.default_factory
            value, parameter = f"_make_{name}()", f"{name}=_missing"
            if one.init:
                value += f" if {name} is _missing else {name}"
        elif one.default is not _MISSING:
            scope[f"_default_{name}"] = one.default
            value, parameter = name if one.init else f"_default_{name}", f"{name}=_default_{name}"
        elif not one.init:
            continue  # `__post_init__` sets it
        if one.init:
            parameters.append(parameter)
        lines.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(owner, "__post_init__"):
        lines.append("self.__post_init__()")
    body = "\n ".join(lines or ["pass"])
    exec(f"def __init__({', '.join(parameters)}):\n {body}", scope)  # noqa: S102  names of fields
    made: Callable[..., None] = scope["__init__"]
    made.__qualname__ = f"{owner.__qualname__}.__init__"
    return made


def _values(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """Return a function that gives the tuple of an object's attributes of these names."""
    if len(names) > 1:
        return attrgetter(*names)
    if not names:
        return lambda _one: ()
    get = attrgetter(names[0])
    return lambda one: (get(one),)


def _repr(names: list[str]) -> Callable[[Any], str]:
    def __repr__(self: Any) -> str:  # noqa: N807
        shown = ", ".join([f"{name}={getattr(self, name)!r}" for name in names])
        return f"{self.__class__.__qualname__}({shown})"

    return __repr__


def _eq(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any, object], bool]:
    def __eq__(self: Any, other: object) -> bool:  # noqa: N807
        if other.__class__ is not self.__class__:
            return NotImplemented
        return values(self) == values(other)

    return __eq__


def _hash(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any], int]:
    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(values(self))

    return __hash__


def _ordering(values: Callable[[Any], tuple[Any, ...]]) -> dict[str, Callable[[Any, Any], Any]]:
    def by(name: str) -> Callable[[Any, Any], Any]:
        def compared(self: Any, other: Any) -> Any:
            if other.__class__ is not self.__class__:
                return NotImplemented
            return getattr(values(self), name)(values(other))

        return compared

    return {name: by(name) for name in ("__lt__", "__le__", "__gt__", "__ge__")}


def _refuse_to_set(self: Any, name: str, _value: Any) -> NoReturn:
    raise AttributeError(f"cannot assign to field {name!r} of a frozen {type(self).__qualname__}")


def _refuse_to_delete(self: Any, name: str) -> NoReturn:
    raise AttributeError(f"cannot delete field {name!r} of a frozen {type(self).__qualname__}")


def _with_slots(cls: Any, members: dict[str, Any], own: dict[str, _Field], frozen: bool) -> Any:
    """Make a class anew: slots cannot be added to one that exists."""
    left = {*own, "__dict__", "__weakref__"}
    kept = {name: value for name, value in cls.__dict__.items() if name not in left}
    taken = {slot for base in cls.__mro__[1:] for slot in base.__dict__.get("__slots__", ())}
    kept |= members
    kept["__slots__"] = tuple(name for name in own if name not in taken)
    if frozen:
        # A pickle would be read back by assignments, which are refused.
        kept = {"__getstate__": _state, "__setstate__": _set_state} | kept
    made: Any = type(cls)(cls.__name__, cls.__bases__, kept)
    made.__qualname__ = cls.__qualname__
    return made


def _state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self.__fields__]


def _set_state(self: Any, state: list[Any]) -> None:
    for name, value in zip(self.__fields__, state, strict=True):
        object.__setattr__(self, name, value)


if not TYPE_CHECKING:
    dataclass, field, replace = _dataclass, _Field, _replace
