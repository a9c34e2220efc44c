"""Deltas of states (protocol, section 9.5), folded into plain values.

Only a type tells a tracked dictionary from an array: `Annotated[dict[str, Order], Tracked]`. What the type does not describe must
have none: where it may have one, a delta is refused.
"""

from __future__ import annotations

import dataclasses
import functools
import reprlib
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .errors import Misfit
from .values import Case, Entries, Entry, Tracked, decoder, encode, key_of, loads
from .wire import fnv1a


class Plain(NamedTuple):
    """A state as `loads` makes it, with `Entries` for its tracked dictionaries. It never changes."""

    value: Any

    def check(self, expected: int | None) -> None:
        """Raises `Misfit` if the state has another hash than a given one."""
        if expected is not None and fnv1a(encode(self.value)) != expected:
            raise Misfit("it has another hash than the reducer's state")


Walk = Callable[[Any, Plain | None], Any]
"""Takes a part of a state, or of a delta to the given one, and returns that part of the state."""


class Fold:
    """Reads states of a type, and deltas to them. Both raise `Misfit`."""

    def __init__(self, kind: Any) -> None:
        self._walk = _walk(kind)

    def whole(self, data: bytes) -> Plain:
        """The state of these bytes."""
        return self._of(data, None)

    def delta(self, data: bytes, base: Plain) -> Plain:
        """The state that a delta makes of another one, which stays as it is."""
        return self._of(data, base)

    def _of(self, data: bytes, base: Plain | None) -> Plain:
        try:
            return Plain(self._walk(loads(data), base))
        except RecursionError:
            raise Misfit("it is nested too deeply") from None


@functools.cache
def _walk(kind: Any) -> Walk:
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return _tracked(_walk(typing.get_args(inner[0])[1])) if Tracked in kind.__metadata__ else _walk(inner[0])
    if origin is typing.Union or origin is types.UnionType:
        return _union(inner)
    if isinstance(kind, type) and issubclass(kind, Case):
        return _union((kind,))
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return _fields(kind)
    if origin in (list, tuple, set, frozenset):
        return _children(_walk(inner[0]))
    if origin is dict:
        return _children(_walk(inner[1]))
    if kind in (Any, object, list, tuple, set, frozenset, dict):
        return _unknown
    read = decoder(kind)

    def leaf(value: Any, _: Plain | None) -> Any:
        read(value)
        return value

    return leaf


def _at(place: object, walk: Walk, value: Any, base: Plain | None) -> Any:
    try:
        return walk(value, base)
    except Misfit as error:
        raise Misfit(f"at {place}: {error}") from None


def _children(walk: Walk) -> Walk:
    def children(value: Any, base: Plain | None) -> Any:
        if isinstance(value, Mapping):
            return {name: _at(name, walk, item, base) for name, item in value.items()}
        return [_at(number, walk, item, base) for number, item in enumerate(value)] if isinstance(value, list) else value

    return children


def _unknown(value: Any, base: Plain | None) -> Any:
    if base is not None and isinstance(value, list) and value:
        is_change = len(value) == 4 and value[0] and _found(value[0], base) is not None
        if value[0] is None or is_change:
            raise Misfit("this may be a tracked dictionary, and the type does not say so")
    return _children(_unknown)(value, base)


def _found(path: Any, base: Plain) -> Any:
    """What is in a state under a path of names, or nothing."""
    part = base.value
    for name in path if isinstance(path, list) else [None]:
        part = part.get(name) if isinstance(name, str) and isinstance(part, Mapping) else None
    return part


def _tracked(walk: Walk) -> Walk:
    def put(pairs: Any, into: Entries, base: Plain | None, is_new: bool) -> Entries:
        if not isinstance(pairs, list) or len(pairs) % 2:
            raise Misfit("a tracked dictionary has keys and values, and here is something else")
        for at in range(0, len(pairs), 2):
            key = encode(pairs[at])
            if (key in into) == is_new:
                what = "inserted, and it is there" if is_new else "updated, and it is not there"
                raise Misfit(f"the key {reprlib.repr(pairs[at])} is {what}")
            into[key] = Entry(pairs[at], _at(pairs[at], walk, pairs[at + 1], base))
        return into

    def entries(value: Any, base: Plain | None) -> Any:
        if base is None:
            return put(value, Entries(), None, is_new=True)
        if isinstance(value, list) and value and value[0] is None:
            return put(value[1:], Entries(), base, is_new=True)
        is_change = isinstance(value, list) and len(value) == 4 and isinstance(value[1], list)
        old = _found(value[0], base) if is_change else None
        if not isinstance(old, Entries):
            raise Misfit("these are no changes of a tracked dictionary that is there")
        new = Entries(old)
        for key in value[1]:
            if new.pop(encode(key), None) is None:
                raise Misfit(f"the key {reprlib.repr(key)} is removed, and it is not there")
        return put(value[3], put(value[2], new, base, is_new=False), base, is_new=True)

    return entries


_WALKS: dict[type, Walk] = {}
"""The walks of dataclasses. One is here before its fields are looked at, because a type may be part of itself."""


def _fields(kind: type) -> Walk:
    walks: dict[str, Walk] = {}

    def fields(value: Any, base: Plain | None) -> Any:
        if not isinstance(value, Mapping):
            raise Misfit(f"expected a map, for {kind.__name__}")
        return {key: _at(key, walks.get(key, _unknown), item, base) for key, item in value.items()}

    if kind not in _WALKS:
        decoder(kind)  # It raises `Misfit` for what cannot be read.
        _WALKS[kind] = fields
        hints = typing.get_type_hints(kind, include_extras=True)
        walks |= {key_of(field): _walk(hints[field.name]) for field in dataclasses.fields(kind)}
    return _WALKS[kind]


def _union(members: tuple[Any, ...]) -> Walk:
    cases = {one.case_name: _fields(one) for one in members if isinstance(one, type) and issubclass(one, Case)}
    others = [_walk(one) for one in members if not (isinstance(one, type) and issubclass(one, Case))]

    def union(value: Any, base: Plain | None) -> Any:
        if isinstance(value, Mapping) and len(value) == 1 and (name := next(iter(value))) in cases:
            return {name: _at(name, cases[name], value[name], base)}
        problem = Misfit("it is no case that the type has")
        for other in others:
            try:
                return other(value, base)
            except Misfit as error:
                problem = error
        raise problem

    return union
