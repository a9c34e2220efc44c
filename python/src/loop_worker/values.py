"""Values of a loop: Python types to CBOR and back, as section 9.4 of the protocol has them.

`encode` writes the deterministic encoding, so that equal values have equal bytes in every process. `decoder` makes the reader of
a type: dataclasses by their fields, unions of `Case` by the name of the case, and what the standard library has. Keys that a type
does not have are skipped.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import functools
import struct
import types
import typing
import uuid
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

import cbor2

from .errors import Misfit, shown

if typing.TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: object) -> Callable[[type], type]:
        return lambda cls: cls


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
class Case:
    """A case of a Swift enum: the class is a frozen dataclass, and its name with a small first letter is the name of the case.

        class Shipped(Case):
            number: str
            parcel: str

    is `case shipped(number: String, parcel: String)`. A value without a label has the name of its position: `_0`. Another name is
    given by `class Ship(Case, name="shipOrder")`.
    """

    case_name: typing.ClassVar[str] = ""

    def __init_subclass__(cls, name: str = "", **rest: object) -> None:
        super().__init_subclass__(**rest)
        cls.case_name = name or cls.__name__[:1].lower() + cls.__name__[1:]
        dataclasses.dataclass(frozen=True)(cls)


class Tracked:
    """Marks a dictionary that is a `TrackedDictionary` in Swift: `Annotated[dict[str, Order], Tracked]`."""


class Entry:
    """An entry of a tracked dictionary: its key and value, plain, and both as they were read."""

    __slots__ = ("key", "read", "value")

    def __init__(self, key: Any, value: Any) -> None:
        self.key, self.value = key, value
        self.read: tuple[Any, Any] | None = None


class Entries(dict[bytes, Entry]):
    """A tracked dictionary among plain values, by the bytes of its keys."""


_SWIFT_EPOCH = datetime(2001, 1, 1, tzinfo=timezone.utc)


def key_of(field: dataclasses.Field[Any]) -> str:
    """The key of a field: its `metadata={"key": …}`, else its name without a closing `_`, which keywords of Python need."""
    key = field.metadata.get("key")
    return key if key is not None else field.name if field.name.startswith("_") else field.name.rstrip("_")


# Writing.

Write = Callable[[Any], bytes]
Read = Callable[[Any], Any]

_HEAD_8, _HEAD_16, _HEAD_32, _HEAD_64 = (struct.Struct(form) for form in (">BB", ">BH", ">BI", ">BQ"))
_HEADS = {major: [bytes([major << 5 | number]) for number in range(24)] for major in range(8)}


def _head(major: int, number: int) -> bytes:
    if number < 24:
        return _HEADS[major][number]
    bits = number.bit_length()
    if bits <= 64:
        code, form = (
            (24, _HEAD_8) if bits <= 8 else (25, _HEAD_16) if bits <= 16 else (26, _HEAD_32) if bits <= 32 else (27, _HEAD_64)
        )
        return form.pack(major << 5 | code, number)
    raise Misfit(f"the integer {number if major == 0 else -1 - number} does not fit into 64 bits")


def _text(value: str) -> bytes:
    try:
        data = value.encode()
    except UnicodeEncodeError as error:
        raise Misfit(f"this text is not Unicode: {error}") from None
    size = len(data)
    return (_HEADS[3][size] if size < 24 else _head(3, size)) + data


def _int(value: int) -> bytes:
    if 0 <= value < 24:
        return _HEADS[0][value]
    return _head(0, value) if value >= 0 else _head(1, -1 - value)


def _float(value: float) -> bytes:
    if value != value:
        return b"\xf9\x7e\x00"
    for head, form in ((b"\xf9", ">e"), (b"\xfa", ">f")):
        try:
            data = struct.pack(form, value)
        except OverflowError:
            continue
        if struct.unpack(form, data)[0] == value:
            return head + data
    return b"\xfb" + struct.pack(">d", value)


def _seconds(value: datetime) -> float:
    if value.tzinfo is None:
        raise Misfit(f"{value} has no zone: give one, such as timezone.utc")
    return (value - _SWIFT_EPOCH).total_seconds()


def _map(pairs: list[tuple[bytes, bytes]]) -> bytes:
    pairs.sort()
    return _head(5, len(pairs)) + b"".join([key + value for key, value in pairs])


def _array(items: list[bytes]) -> bytes:
    return _head(4, len(items)) + b"".join(items)


_WRITERS: dict[type, Write] = {
    str: _text,
    int: _int,
    bool: lambda value: b"\xf5" if value else b"\xf4",
    type(None): lambda _: b"\xf6",
    float: _float,
    bytes: lambda value: _head(2, len(value)) + value,
    list: lambda value: _array([_encode(item) for item in value]),
    tuple: lambda value: _array([_encode(item) for item in value]),
    set: lambda value: _array(sorted(_encode(item) for item in value)),
    frozenset: lambda value: _array(sorted(_encode(item) for item in value)),
    Entries: lambda value: _array([_encode(item) for entry in value.values() for item in (entry.key, entry.value)]),
    dict: lambda value: _map([(_encode(key), _encode(item)) for key, item in value.items()]),
    datetime: lambda value: _float(_seconds(value)),
    uuid.UUID: lambda value: _text(str(value).upper()),
}


def encode(value: object) -> bytes:
    """The bytes of a value: a `Case`, a dataclass, or what CBOR has.

    Raises `Misfit` for anything else, for a field whose value cannot be read as its type, and for one whose type cannot be read.
    """
    try:
        return _encode(value)
    except RecursionError:
        raise Misfit("the value contains itself, or is too deep") from None


def _encode(value: object) -> bytes:
    kind = type(value)
    writer = _WRITERS.get(kind)
    if writer is None:
        writer = _WRITERS[kind] = _writer(kind)
    return writer(value)


def _writer(kind: type) -> Write:
    if issubclass(kind, enum.Enum):
        return lambda value: _encode(value.value)
    if dataclasses.is_dataclass(kind):
        return _writer_of_fields(kind)
    for base, writer in list(_WRITERS.items()):
        if issubclass(kind, base):
            return writer
    raise Misfit(f"{kind.__name__} cannot be sent: give a dataclass, a Case, or what CBOR has")


def _writer_of_fields(kind: type) -> Write:
    hints = _hints(kind)
    fields = []
    for field in dataclasses.fields(kind):
        hint = hints[field.name]
        try:
            writer = _writer_of(hint)
        except (Misfit, TypeError) as error:
            # The second is that of a type with an unhashable part.
            raise Misfit(f"{kind.__name__}.{field.name} is declared as {_named(hint)}: {error}") from None
        # Without the key, a reader takes None for an optional, and the default for anything else.
        is_optional = field.default is None if hint in (Any, object) else _takes_none(writer)
        fields.append((_text(key_of(field)), field.name, writer, is_optional))
    fields.sort(key=lambda one: one[0])
    case = _head(5, 1) + _text(kind.case_name) if issubclass(kind, Case) else b""

    def write(value: object) -> bytes:
        parts = []
        count = 0
        for key, name, writer, is_optional in fields:
            item = getattr(value, name)
            if item is None and is_optional:
                continue
            try:
                data = writer(item)
            except Misfit as error:
                raise Misfit(f"{kind.__name__}.{name} is declared as {_named(hints[name])}: {error}") from None
            parts.append(key)
            parts.append(data)
            count += 1
        return case + _head(5, count) + b"".join(parts)

    return write


def _hints(kind: type) -> dict[str, Any]:
    try:
        return typing.get_type_hints(kind, include_extras=True)
    except Exception as error:
        raise Misfit(f"the types of {kind.__name__} are not known: {error}") from None


def _named(hint: Any) -> str:
    is_class = isinstance(hint, type) and typing.get_origin(hint) is None
    return hint.__name__ if is_class else str(hint).replace("typing.", "")


def _takes_none(writer: Write) -> bool:
    try:
        writer(None)
    except Misfit:
        return False
    return True


def _writer_of(hint: Any) -> Write:
    """The writer of a type. A value of another class must have bytes that can be read as the type, such as those of a dict."""
    members = _members(hint)
    if Any in members or object in members:
        return _encode
    read = decoder(hint)
    writers: dict[Any, Write | None] = {}
    for kind, writer in map(_class_and_writer, members):
        # Of two members of a class, such as list[int] | list[str], neither is chosen by the class.
        writers[kind] = None if kind in writers else writer

    def write(value: Any) -> bytes:
        writer = writers.get(type(value))
        if writer is not None:
            return writer(value)
        data = _encode(value)
        read(loads(data))
        return data

    return write


def _class_and_writer(hint: Any) -> tuple[Any, Write]:
    """The class of a type, and the writer of its instances."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated and Tracked in hint.__metadata__:
        key, item = map(_writer_of, typing.get_args(inner[0]) or (Any, Any))
        return dict, lambda value: _array([part for name, one in value.items() for part in (key(name), _at(name, item, one))])
    if origin is typing.Annotated:
        return _class_and_writer(inner[0])
    if isinstance(hint, typing.NewType):
        return _class_and_writer(hint.__supertype__)
    if origin is list and inner:
        item = _writer_of(inner[0])
        return list, lambda value: _array([_at(number, item, one) for number, one in enumerate(value)])
    if origin is dict and inner:
        key, item = map(_writer_of, inner)
        return dict, lambda value: _map([(key(name), _at(name, item, one)) for name, one in value.items()])
    return hint, _WRITERS.get(hint, _encode)


# Reading.


def loads(data: bytes) -> Any:
    """The plain value of some CBOR. Raises `Misfit` if it is none."""
    try:
        return cbor2.loads(data)
    except Exception as error:
        raise Misfit(f"these bytes are no CBOR: {error}") from error


def decode(data: bytes, kind: Any = Any) -> Any:
    """The value of some CBOR, as a type. Raises `Misfit`, with the place of what does not fit."""
    return decoder(kind)(loads(data))


def decoder(kind: Any) -> Read:
    """The reader of a type, for plain values as `loads` makes them. Raises `Misfit` for what is no type."""
    try:
        hash(kind)
    except TypeError:
        raise _no_type(kind) from None
    return _decoder(kind)


@functools.cache
def _decoder(kind: Any) -> Read:
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any or kind is object:
        return lambda value: value
    if origin is typing.Annotated:
        return _read_tracked(*typing.get_args(inner[0])) if Tracked in kind.__metadata__ else decoder(inner[0])
    if kind in _PLAIN:
        return _PLAIN[kind]
    if origin is typing.Union or origin is types.UnionType:
        return _read_union(inner)
    if (origin or kind) in (list, tuple, set, frozenset) and inner[1:] in ((), (...,)):
        return _read_items(origin or kind, decoder(inner[0]) if inner else decoder(Any))
    if origin is tuple:
        return _read_tuple([decoder(one) for one in inner])
    if isinstance(kind, typing.NewType):
        return decoder(kind.__supertype__)
    if origin is typing.Literal:
        return _read_literal(inner)
    if origin is dict or kind is dict:
        return _read_dict(*(map(decoder, inner) if inner else (decoder(Any), decoder(Any))))
    if isinstance(kind, type) and issubclass(kind, Case):
        return _read_union((kind,))
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return _read_fields(kind)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return _read_enum(kind)
    raise _no_type(kind)


def _no_type(kind: Any) -> Misfit:
    return Misfit(f"{kind} cannot be read: give a dataclass, Cases, or what CBOR has")


def _expect(kind: type | tuple[type, ...], name: str) -> Read:
    def read(value: Any) -> Any:
        if not isinstance(value, kind) or isinstance(value, bool) and kind is int:
            raise Misfit(f"expected {name}, found {shown(value)}")
        return value

    return read


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Misfit(f"expected a number, found {shown(value)}")
    try:
        return float(value)
    except OverflowError:
        raise Misfit("expected a number of 64 bits, found a larger one") from None


def _date(value: Any) -> datetime:
    try:
        return _SWIFT_EPOCH + timedelta(seconds=_number(value))
    except (OverflowError, ValueError):
        raise Misfit(f"expected a date up to the year 9999, found {shown(value)}") from None


def _bytes(value: Any) -> bytes:
    if isinstance(value, bytes | list):
        with contextlib.suppress(ValueError, TypeError):
            return bytes(value)
    raise Misfit(f"expected bytes, found {shown(value)}")


def _uuid(value: Any) -> uuid.UUID:
    try:
        return uuid.UUID(value)
    except (ValueError, AttributeError, TypeError):
        raise Misfit(f"expected a UUID, found {shown(value)}") from None


_PLAIN: dict[Any, Read] = {
    str: _expect(str, "text"),
    int: _expect(int, "an integer"),
    bool: _expect(bool, "true or false"),
    bytes: _bytes,
    float: _number,
    type(None): _expect(type(None), "null"),
    datetime: _date,
    uuid.UUID: _uuid,
}


def _at(place: object, read: Read, value: Any) -> Any:
    try:
        return read(value)
    except Misfit as error:
        raise Misfit(f"at {place}: {error}") from None


def _read_items(make: Callable[[Any], Any], read: Read) -> Read:
    def items(value: Any) -> Any:
        if not isinstance(value, list | tuple):
            raise Misfit(f"expected an array, found {shown(value)}")
        return make(_at(number, read, item) for number, item in enumerate(value))

    return items


def _read_tuple(readers: list[Read]) -> Read:
    def items(value: Any) -> Any:
        if not isinstance(value, list | tuple) or len(value) != len(readers):
            raise Misfit(f"expected an array of {len(readers)}, found {shown(value)}")
        return tuple(_at(number, read, item) for number, (read, item) in enumerate(zip(readers, value, strict=True)))

    return items


def _read_literal(literals: tuple[Any, ...]) -> Read:
    def read(value: Any) -> Any:
        for one in literals:
            if type(value) is type(one) and value == one:
                return one
        raise Misfit(f"expected one of {', '.join(map(repr, literals))}, found {shown(value)}")

    return read


def _read_dict(key: Read, read: Read) -> Read:
    def pairs(value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise Misfit(f"expected a map, found {shown(value)}")
        return {key(name): _at(name, read, item) for name, item in value.items()}

    return pairs


def _read_tracked(key: Any, item: Any) -> Read:
    read_key, read = decoder(key), decoder(item)

    def pairs(value: Any) -> Any:
        if isinstance(value, Entries):
            for entry in value.values():
                entry.read = entry.read or (read_key(entry.key), _at(entry.key, read, entry.value))
            return dict(entry.read for entry in value.values() if entry.read)
        if not isinstance(value, list) or len(value) % 2:
            raise Misfit(f"expected an array of keys and values, found {shown(value)}")
        return {read_key(value[at]): _at(value[at], read, value[at + 1]) for at in range(0, len(value), 2)}

    return pairs


_READERS: dict[type, Read] = {}
"""The readers of dataclasses. One is here before its fields are looked at, because a type may be part of itself."""


def _read_fields(kind: type) -> Read:
    if kind in _READERS:
        return _READERS[kind]
    fields: list[tuple[str, str, Read, bool, bool]] = []

    def read(value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise Misfit(f"expected a map, for {kind.__name__}, found {shown(value)}")
        given = {}
        for key, name, reader, has_default, is_optional in fields:
            if key in value:
                given[name] = _at(key, reader, value[key])
            elif is_optional and not has_default:
                given[name] = None
            elif not has_default:
                raise Misfit(f"{kind.__name__} needs {key!r}, and there is {', '.join(map(repr, value)) or 'nothing'}")
        return kind(**given)

    _READERS[kind] = read
    try:
        hints = _hints(kind)
        for field in dataclasses.fields(kind):
            hint = hints[field.name]
            try:
                reader = decoder(hint)
            except Misfit as error:
                raise Misfit(f"{kind.__name__}.{field.name}: {error}") from None
            fields.append((key_of(field), field.name, reader, _has_default(field), type(None) in _members(hint)))
    except BaseException:
        # What was made of it meanwhile is of no use.
        del _READERS[kind]
        _decoder.cache_clear()
        raise
    return read


def _has_default(field: dataclasses.Field[Any]) -> bool:
    return field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING


def _members(hint: Any) -> tuple[Any, ...]:
    is_union = typing.get_origin(hint) in (typing.Union, types.UnionType)
    return typing.get_args(hint) if is_union else (hint,)


def _read_enum(kind: type[enum.Enum]) -> Read:
    def read(value: Any) -> Any:
        try:
            return kind(value)
        except ValueError:
            known = ", ".join(repr(one.value) for one in kind)
            raise Misfit(f"expected one of {known}, found {shown(value)}") from None

    return read


def _read_union(members: tuple[Any, ...]) -> Read:
    cases = {one.case_name: _read_fields(one) for one in members if isinstance(one, type) and issubclass(one, Case)}
    others = [decoder(one) for one in members if not (isinstance(one, type) and issubclass(one, Case))]

    def read(value: Any) -> Any:
        if isinstance(value, Mapping) and len(value) == 1:
            name = next(iter(value))
            if name in cases:
                return _at(name, cases[name], value[name])
        problems = []
        for other in others:
            try:
                return other(value)
            except Misfit as error:
                problems.append(str(error))
        if cases:
            problems.append(f"expected one of the cases {', '.join(cases)}, found {shown(value)}")
        raise Misfit("; ".join(problems))

    return read
