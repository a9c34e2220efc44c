"""Frames as the documents of a case: what is sent, what is expected, and what is shown to people.

Identities are text: an effect is `0.2.1` (feedback, seq, index), an attempt `1.7` (epoch, count), an epoch `1/77` (number, nonce),
a peer 32 hexadecimal digits. Values in CBOR are the values themselves; bytes that are none are `{"hex": "…"}`.
"""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

import cbor2

from . import wire

KINDS = {wire.EVENT: "event", wire.COMPLETED: "completed", wire.FAILED: "failed", wire.RELEASED: "released"}
COMMANDS = {"start": wire.Grant, "update": wire.Update, "cancel": wire.Cancel}
IDENTITIES = {wire.Effect: ".", wire.Attempt: ".", wire.Epoch: "/"}
MESSAGES = {cls.__name__: cls for cls in (*wire.TO_REDUCER.values(), *wire.TO_PEER.values())}


class Mistake(Exception):
    """A case that cannot be read."""


def encoded(value: Any) -> bytes:
    """The bytes of a value in a case."""
    if isinstance(value, dict) and set(value) == {"hex"}:
        return bytes.fromhex(value["hex"])
    if isinstance(value, dict) and set(value) == {"zeros"}:
        return bytes(value["zeros"])
    return cbor2.dumps(value, canonical=True)


def decoded(data: bytes) -> Any:
    """The value of some bytes, for a comparison with a case."""
    try:
        return cbor2.loads(data) if data else None
    except Exception:
        return {"hex": data[:64].hex()}


def plain(value: Any) -> Any:
    """A record as a document."""
    kind = type(value)
    if kind in IDENTITIES:
        return IDENTITIES[kind].join(str(getattr(value, one.name)) for one in fields(value))
    if isinstance(value, wire.Entry):
        return plain_entry(value)
    if hasattr(kind, "codec"):
        said = {one.name: plain_field(one, getattr(value, one.name)) for one in fields(value)}
        command = [name for name, cls in COMMANDS.items() if cls is kind]
        if command:
            said["kind"] = command[0]
        if kind is wire.StatePart:
            said["bytes"] = len(value.chunk)
        return said
    if isinstance(value, list):
        return [plain(one) for one in value]
    return value


def plain_field(one: Any, value: Any) -> Any:
    if isinstance(one.metadata["codec"], wire.Bytes):
        return decoded(value)
    return value.hex() if isinstance(value, bytes) else plain(value)


def plain_entry(entry: wire.Entry) -> dict[str, Any]:
    """An entry: its kind, its flags as words, and its payload as what it is."""
    said: dict[str, Any] = {
        "kind": KINDS[entry.kind],
        "effect": plain(entry.effect),
        "attempt": plain(entry.attempt),
        "wants_seq": bool(entry.flags & wire.WANTS_SEQ),
        "wants_answer": bool(entry.flags & wire.WANTS_ANSWER),
        "last": bool(entry.flags & wire.LAST),
    }
    if entry.kind == wire.EVENT:
        said["event"] = decoded(entry.payload)
        said["deterministic"] = encoded(said["event"]) == entry.payload
    if entry.kind == wire.FAILED:
        failure = wire.Failure.codec.read(wire.Reader(entry.payload))
        said["failure"] = {"final": bool(failure.flags & 1), "delay": failure.milliseconds, "message": failure.message}
    return said


def made(kind: Any, given: Any) -> Any:
    """A record from a document; every field has to be there."""
    if kind in IDENTITIES:
        return kind(*[int(part) for part in str(given).split(IDENTITIES[kind])])
    if kind is wire.Entry:
        return made_entry(given)
    missing = {one.name for one in fields(kind)} ^ set(given)
    if missing:
        raise Mistake(f"{kind.__name__}: {', '.join(sorted(missing))}")
    return kind(*[made_field(one.metadata["codec"], given[one.name]) for one in fields(kind)])


def made_field(codec: Any, value: Any) -> Any:
    if isinstance(codec, wire.Bytes):
        return encoded(value)
    if isinstance(codec, wire.Raw):
        return bytes.fromhex(value)
    if isinstance(codec, (wire.List, wire.Trailing)):
        item = codec.item if isinstance(codec, wire.List) else codec.list.item
        return [made_field(item, one) for one in value]
    if isinstance(codec, wire.Maybe):
        return None if value is None else made_field(codec.value, value)
    if isinstance(codec, wire.CommandCodec):
        ((name, rest),) = value.items()
        return made(COMMANDS[name], GIVEN[name] | rest)
    if isinstance(codec, wire.EntryCodec):
        return made_entry(value)
    if isinstance(codec, wire.Fields):
        return made(codec.record, GIVEN.get(codec.record.__name__, {}) | value if isinstance(value, dict) else value)
    return value


def made_entry(given: dict[str, Any]) -> wire.Entry:
    kind = next(number for number, name in KINDS.items() if name == given.get("kind", "event"))
    flags = (
        (wire.HAS_EFFECT if given.get("effect") else 0)
        | (wire.WANTS_SEQ if given.get("wants_seq") or given.get("wants_answer") else 0)
        | (wire.WANTS_ANSWER if given.get("wants_answer") else 0)
        | (wire.LAST if given.get("last") else 0)
    )
    payload = encoded(given["event"]) if "event" in given else b""
    if kind == wire.FAILED:
        failure = {"final": False, "delay": 0, "message": "trouble"} | given.get("failure", {})
        out = bytearray()
        bits = (1 if failure["final"] else 0) | (2 if failure["delay"] else 0)
        wire.Failure.codec.write(out, wire.Failure(bits, failure["delay"], failure["message"]))
        payload = bytes(out)
    effect = made(wire.Effect, given["effect"]) if given.get("effect") else None
    attempt = made(wire.Attempt, given["attempt"]) if given.get("effect") else None
    return wire.Entry(kind, flags, effect, attempt, payload)


EFFECT = {"effect": "0.1.0", "attempt": "1.1"}
"""What a case that does not say it means: the first effect, and the first attempt of the first epoch."""
GRANT: dict[str, Any] = EFFECT | {"version": 1, "failures": 0, "resumed": False, "trace": "", "request": {}}
GIVEN: dict[str, dict[str, Any]] = {
    "start": GRANT,
    "Grant": GRANT,
    "update": EFFECT | {"version": 2, "request": {}},
    "cancel": EFFECT,
    "Notable": {"code": 0, "seq": 0},
    "Answer": {"code": 0, "value": {"hex": ""}},
}

# What is sent and expected, with variables.

ORDER = {"number": "$n", "does": "answer", "count": 0, "text": "a"}
"""What a case that does not say it means in an order of the loop `conform`."""
STATE: dict[str, Any] = {"orders": {}, "others": {}, "done": {}, "said": {}, "entries": [], "filler": []}
"""The state of the loop `conform` to which a case adds a result, and entries of its tracked dictionary or changes of them."""


def resolved(value: Any, variables: dict[str, Any]) -> Any:
    """A part of a case with the variables that it names: `$name`, `$name+1`, or `${name}` within a text."""
    if isinstance(value, dict) and set(value) == {"letters"}:
        return "x" * value["letters"]
    if isinstance(value, dict):
        is_state = "result" in value and value.keys() <= {"result", "entries"}
        whole = ORDER | value if "does" in value else STATE | value if is_state else value
        return {resolved(key, variables): resolved(one, variables) for key, one in whole.items()}
    if isinstance(value, list):
        return [resolved(one, variables) for one in value]
    if not isinstance(value, str) or "$" not in value:
        return value
    match = re.fullmatch(r"\$(\w+)(?:([+-])(\d+))?", value)
    try:
        if not match:
            return re.sub(r"\$\{(\w+)\}", lambda found: str(variables[found[1]]), value)
        found = variables[match[1]]
        return found if match[3] is None else found + int(match[2] + match[3])
    except KeyError as error:
        raise Mistake(f"{value} names no variable; there are {', '.join(variables)}") from error


def fits(pattern: Any, value: Any) -> bool:
    """Whether a document is what a case expects: the fields that it names, and lists as a whole."""
    if isinstance(value, bytes):
        value = {"hex": value[:64].hex()}
    if isinstance(pattern, dict):
        for operator, judge in OPERATORS.items():
            if set(pattern) == {operator}:
                return bool(judge(pattern[operator], value))
        return isinstance(value, dict) and all(key in value and fits(one, value[key]) for key, one in pattern.items())
    if isinstance(pattern, list):
        return isinstance(value, list) and len(pattern) == len(value) and all(map(fits, pattern, value))
    return type(pattern) is type(value) and bool(pattern == value)


def difference(pattern: Any, value: Any, place: str = "") -> str:
    """The first place where a document is not what a case expects, for people."""
    inner: list[tuple[Any, Any, Any]] = []
    if isinstance(pattern, dict) and isinstance(value, dict) and not pattern.keys() & OPERATORS.keys():
        inner = [(key, one, value.get(key)) for key, one in pattern.items()]
    elif isinstance(pattern, list) and isinstance(value, list) and len(pattern) == len(value):
        inner = [(index, one, value[index]) for index, one in enumerate(pattern)]
    for key, one, found in inner:
        if not fits(one, found):
            return difference(one, found, f"{place}.{key}" if place else str(key))
    return f"{place or 'the whole'}, expected {pattern!r}, came {shortened(value)!r}"


def shortened(value: Any) -> Any:
    """A document for people: a long text is its beginning, and how many characters it has."""
    if isinstance(value, dict):
        return {key: shortened(one) for key, one in value.items()}
    if isinstance(value, list):
        return [shortened(one) for one in value]
    return f"{value[:40]}… ({len(value)} characters)" if isinstance(value, str) and len(value) > 10_000 else value


OPERATORS: dict[str, Any] = {
    "least": lambda one, value: isinstance(value, int) and value >= one,
    "most": lambda one, value: isinstance(value, int) and value <= one,
    "not": lambda one, value: not fits(one, value),
    "has": lambda one, value: isinstance(value, list) and any(fits(one, item) for item in value),
    "contains": lambda one, value: isinstance(value, str) and one in value,
    "long": lambda one, value: isinstance(value, str) and len(value) == one,
    "any": lambda one, value: any(fits(option, value) for option in one),
}


def at_path(value: Any, path: str) -> Any:
    """A part of a document by names and positions: `commands.0.effect`."""
    for name in path.split(".") if path else []:
        value = value[int(name)] if isinstance(value, list) else value[name]
    return value
