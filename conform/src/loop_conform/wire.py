"""The frames of the Loop protocol, version 1.

Written from docs/spec/1-PROTOCOL.md alone: section 9 is the tables below, in the same order. A record is a table of the
specification: one line for each field, with the codec that writes and reads it.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar

VERSION = 1
SHARD = 0
NO_SESSION = 0
UNREAD = 2**64 - 1  # `received` of a tick while batches wait to be read


class Malformed(Exception):
    """Bytes that are no frame of this protocol."""


def fnv1a(data: bytes) -> int:
    """FNV-1a with 64 bits: loop IDs, sections, fingerprints, hashes of states."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def loop_id(name: str) -> int:
    """The loop ID of a loop's name."""
    return fnv1a(name.encode())


def fingerprint(name: str, schema: int, feedbacks: list[str]) -> int:
    """The fingerprint of a definition; each feedback is `name@placement`, in any order."""
    lines = sorted(line.encode() for line in feedbacks)
    return fnv1a(b"\n".join([f"{name}#{schema}".encode(), *lines]))


class Reader:
    """The bytes of a frame, read from the front. No length is trusted beyond what is there."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, count: int) -> bytes:
        if count > len(self.data) - self.at:
            raise Malformed(f"{count} bytes are wanted at {self.at} of {len(self.data)}")
        self.at += count
        return self.data[self.at - count : self.at]

    def end(self) -> None:
        if self.at != len(self.data):
            raise Malformed(f"{len(self.data) - self.at} bytes after the last field")


class Codec:
    """How one field is written and read."""

    def write(self, out: bytearray, value: Any) -> None:
        raise NotImplementedError

    def read(self, reader: Reader) -> Any:
        raise NotImplementedError


class Int(Codec):
    """An integer of a number of bytes, the least significant first."""

    def __init__(self, width: int, signed: bool = False) -> None:
        self.width = width
        self.signed = signed

    def write(self, out: bytearray, value: Any) -> None:
        out += value.to_bytes(self.width, "little", signed=self.signed)

    def read(self, reader: Reader) -> Any:
        return int.from_bytes(reader.take(self.width), "little", signed=self.signed)


class Flag(Codec):
    """One byte, 0 or 1."""

    def write(self, out: bytearray, value: Any) -> None:
        out.append(1 if value else 0)

    def read(self, reader: Reader) -> Any:
        byte = reader.take(1)[0]
        if byte > 1:
            raise Malformed(f"a flag of {byte}")
        return byte == 1


class Raw(Codec):
    """A fixed number of bytes."""

    def __init__(self, width: int) -> None:
        self.width = width

    def write(self, out: bytearray, value: Any) -> None:
        assert len(value) == self.width
        out += value

    def read(self, reader: Reader) -> Any:
        return reader.take(self.width)


class Bytes(Codec):
    """`4 + n`: a count and that many bytes."""

    def write(self, out: bytearray, value: Any) -> None:
        out += struct.pack("<I", len(value)) + value

    def read(self, reader: Reader) -> Any:
        return reader.take(U32.read(reader))


class Text(Codec):
    """`4 + n`: a count and that many bytes of UTF-8."""

    def write(self, out: bytearray, value: Any) -> None:
        BYTES.write(out, value.encode())

    def read(self, reader: Reader) -> Any:
        try:
            return BYTES.read(reader).decode()
        except UnicodeDecodeError as error:
            raise Malformed("a string that is not UTF-8") from error


class List(Codec):
    """`4 + …`: a count and that many items."""

    def __init__(self, item: Codec) -> None:
        self.item = item

    def write(self, out: bytearray, value: Any) -> None:
        U32.write(out, len(value))
        for item in value:
            self.item.write(out, item)

    def read(self, reader: Reader) -> Any:
        # Not sized by the count: the items that are there decide.
        return [self.item.read(reader) for _ in range(U32.read(reader))]


class Maybe(Codec):
    """A flag, and the value only where it is 1."""

    def __init__(self, value: Codec) -> None:
        self.value = value

    def write(self, out: bytearray, value: Any) -> None:
        FLAG.write(out, value is not None)
        if value is not None:
            self.value.write(out, value)

    def read(self, reader: Reader) -> Any:
        return self.value.read(reader) if FLAG.read(reader) else None


class Trailing(Codec):
    """A list that is left out where it is empty: nothing follows it."""

    def __init__(self, item: Codec) -> None:
        self.list = List(item)

    def write(self, out: bytearray, value: Any) -> None:
        if value:
            self.list.write(out, value)

    def read(self, reader: Reader) -> Any:
        if reader.at == len(reader.data):
            return []
        items = self.list.read(reader)
        if not items:
            raise Malformed("a list of nothing")
        return items


class Fields(Codec):
    """The fields of a record, one after the other."""

    def __init__(self, record: Any) -> None:
        self.record = record
        self.parts = [(one.name, one.metadata["codec"]) for one in fields(record)]

    def write(self, out: bytearray, value: Any) -> None:
        for name, codec in self.parts:
            codec.write(out, getattr(value, name))

    def read(self, reader: Reader) -> Any:
        return self.record(*[codec.read(reader) for _, codec in self.parts])


U8, U16, U32, U64 = Int(1), Int(2), Int(4), Int(8)
I32, I64 = Int(4, signed=True), Int(8, signed=True)
FLAG, BYTES, TEXT = Flag(), Bytes(), Text()
PEER = Raw(16)


def of(codec: Codec) -> Any:
    """A field of a record."""
    return field(metadata={"codec": codec})


class Record:
    """A table of the specification, for type checkers: what the decorators below add."""

    codec: ClassVar[Any]
    verb: int

    if TYPE_CHECKING:

        def __init__(self, *fields: Any) -> None: ...


def record(cls: Any) -> Any:
    """A table of the specification."""
    cls = dataclass(frozen=True)(cls)
    cls.codec = Fields(cls)
    return cls


TO_REDUCER: dict[int, Any] = {}
TO_PEER: dict[int, Any] = {}


def message(table: dict[int, Any], verb: int) -> Any:
    """A record that is the body of the messages with a verb."""

    def add(cls: Any) -> Any:
        cls = record(cls)
        cls.verb = verb
        table[verb] = cls
        return cls

    return add


# 1. Identities


@record
class Epoch(Record):
    number: int = of(U64)
    nonce: int = of(U64)


@record
class Effect(Record):
    feedback: int = of(U32)
    seq: int = of(U64)
    index: int = of(U32)


@record
class Attempt(Record):
    epoch: int = of(U64)
    count: int = of(U64)


@record
class Held(Record):
    """An attempt of an effect, as a claim names it."""

    effect: Effect = of(Effect.codec)
    attempt: Attempt = of(Attempt.codec)


# 9.1 From a peer to the reducer, over DEALER


@message(TO_REDUCER, 1)
class Hello(Record):
    loop: str = of(TEXT)
    schema: int = of(U64)


@message(TO_REDUCER, 2)
class Join(Record):
    peer: bytes = of(PEER)
    session: int = of(U64)
    history: int = of(U64)
    epoch: Epoch = of(Epoch.codec)
    watermark: int = of(U64)
    schema: int = of(U64)
    fingerprint: int = of(U64)
    capacity: int = of(U32)
    groups: list[Any] = of(List(TEXT))
    name: str = of(TEXT)
    feedbacks: list[Any] = of(List(TEXT))


@message(TO_REDUCER, 3)
class Claim(Record):
    session: int = of(U64)
    epoch: Epoch = of(Epoch.codec)
    number: int = of(U64)
    part: int = of(U32)
    parts: int = of(U32)
    claims: list[Any] = of(List(Held.codec))


@message(TO_REDUCER, 4)
class Heartbeat(Record):
    session: int = of(U64)
    epoch: Epoch = of(Epoch.codec)
    echo: int = of(U64)
    applied: int = of(U64)
    settled: int = of(U64)
    capacity: int = of(U32)


@message(TO_REDUCER, 5)
class AssignmentsWanted(Record):
    session: int = of(U64)
    epoch: Epoch = of(Epoch.codec)


@message(TO_REDUCER, 6)
class OutcomesWanted(Record):
    session: int = of(U64)
    after: int = of(U64)


@message(TO_REDUCER, 7)
class StateWanted(Record):
    transfer: int = of(U64)
    part: int = of(U64)
    form: int = of(U8)
    section: str = of(TEXT)
    follows_deltas: int | None = of(Maybe(U32))


@message(TO_REDUCER, 8)
class Goodbye(Record):
    session: int = of(U64)
    peer: bytes = of(PEER)
    history: int = of(U64)


@message(TO_REDUCER, 9)
class StatusWanted(Record):
    pass


@message(TO_REDUCER, 10)
class Administration(Record):
    request: int = of(U64)
    body: bytes = of(BYTES)


@record
class Report(Record):
    effect: Effect = of(Effect.codec)
    attempt: Attempt = of(Attempt.codec)
    hundredths: int = of(U16)
    text: str = of(TEXT)


@message(TO_REDUCER, 12)
class Progress(Record):
    session: int = of(U64)
    epoch: Epoch = of(Epoch.codec)
    reports: list[Any] = of(List(Report.codec))


def to_reducer(loop: int, body: Any, version: int = VERSION) -> bytes:
    """A frame for ROUTER."""
    out = bytearray([0x4C, version])
    U64.write(out, loop)
    U16.write(out, SHARD)
    U8.write(out, body.verb)
    body.codec.write(out, body)
    return bytes(out)


def read_to_reducer(data: bytes) -> tuple[int, Any]:
    """The loop ID and the message of a frame for ROUTER."""
    reader = Reader(data)
    read_protocol(reader)
    loop, _ = U64.read(reader), U16.read(reader)
    return loop, read_body(reader, TO_REDUCER)


def read_protocol(reader: Reader) -> None:
    if reader.take(2) != bytes([0x4C, VERSION]):
        raise Malformed("another protocol, or another version of it")


def read_body(reader: Reader, table: dict[int, Any]) -> Any:
    verb = U8.read(reader)
    if verb not in table:
        raise Malformed(f"verb {verb}")
    body = table[verb].codec.read(reader)
    reader.end()
    return body


# 9.2 From a peer to the reducer, over PUSH

EVENT, COMPLETED, FAILED, RELEASED = 1, 2, 3, 4
HAS_EFFECT, WANTS_SEQ, LAST, WANTS_ANSWER, HAS_TRACE = 1, 2, 4, 8, 16


@dataclass(frozen=True)
class Entry:
    kind: int
    flags: int
    effect: Effect | None
    attempt: Attempt | None
    payload: bytes
    trace: bytes = b""


class Trace(Raw):
    """A trace context."""

    def read(self, reader: Reader) -> Any:
        value = super().read(reader)
        if not any(value[:16]) or not any(value[16:24]) or value[24] != 1:
            raise Malformed("a trace context that names nothing or is not sampled")
        return value


TRACE = Trace(25)


class EntryCodec(Codec):
    def write(self, out: bytearray, value: Any) -> None:
        U8.write(out, value.kind)
        U8.write(out, value.flags | (HAS_TRACE if value.trace else 0))
        if value.flags & HAS_EFFECT:
            Effect.codec.write(out, value.effect)
            Attempt.codec.write(out, value.attempt)
        out += value.trace
        BYTES.write(out, value.payload)

    def read(self, reader: Reader) -> Any:
        kind, flags = U8.read(reader), U8.read(reader)
        plain = flags & ~HAS_TRACE if kind == EVENT else flags
        asks_rightly = kind == EVENT and plain & ~HAS_EFFECT == WANTS_SEQ | WANTS_ANSWER
        if not EVENT <= kind <= RELEASED or plain > 7 and not asks_rightly:
            raise Malformed(f"an entry of kind {kind} with flags {flags}")
        effect = attempt = None
        if flags & HAS_EFFECT:
            effect, attempt = Effect.codec.read(reader), Attempt.codec.read(reader)
        elif kind != EVENT:
            raise Malformed("the end of no effect")
        trace = TRACE.read(reader) if flags & HAS_TRACE else b""
        return Entry(kind, flags, effect, attempt, BYTES.read(reader), trace)


@record
class Failure(Record):
    flags: int = of(U8)
    milliseconds: int = of(U64)
    message: str = of(TEXT)


@record
class Batch(Record):
    history: int = of(U64)
    session: int = of(U64)
    settled: int = of(U64)
    applied: int = of(U64)
    first: int = of(U64)
    entries: list[Any] = of(List(EntryCodec()))


def batch(loop: int, body: Any, version: int = VERSION) -> bytes:
    """A frame for PULL."""
    out = bytearray([0x4C, version])
    U64.write(out, loop)
    U16.write(out, SHARD)
    body.codec.write(out, body)
    return bytes(out)


def read_batch(data: bytes) -> tuple[int, Any]:
    """The loop ID and the batch of a frame for PULL."""
    reader = Reader(data)
    read_protocol(reader)
    loop, _ = U64.read(reader), U16.read(reader)
    body = Batch.codec.read(reader)
    reader.end()
    if body.first == 0 or not body.entries:
        raise Malformed("a batch of nothing")
    return loop, body


# 9.3 From the reducer to a peer


@message(TO_PEER, 1)
class Introduction(Record):
    loop: str = of(TEXT)
    schema: int = of(U64)
    fingerprint: int = of(U64)
    publisher: str = of(TEXT)
    collector: str = of(TEXT)
    event_bytes_max: int = of(U32)


@message(TO_PEER, 2)
class JoinAccepted(Record):
    watermark: int = of(U64)
    silence: int = of(U64)
    tick: int = of(U64)
    feedbacks: list[Any] = of(List(TEXT))


@record
class Grant(Record):
    effect: Effect = of(Effect.codec)
    attempt: Attempt = of(Attempt.codec)
    version: int = of(U64)
    failures: int = of(U32)
    resumed: bool = of(FLAG)
    trace: bytes = of(TRACE)
    request: bytes = of(BYTES)


class GrantCodec(Fields):
    """A grant. One byte says whether it is resumed, and whether a trace context follows; without one, `trace` is empty."""

    def write(self, out: bytearray, value: Any) -> None:
        before = value.effect, value.attempt, value.version, value.failures
        for codec, part in zip((Effect.codec, Attempt.codec, U64, U32), before, strict=True):
            codec.write(out, part)
        U8.write(out, value.resumed | (2 if value.trace else 0))
        out += value.trace
        BYTES.write(out, value.request)

    def read(self, reader: Reader) -> Any:
        before = Effect.codec.read(reader), Attempt.codec.read(reader), U64.read(reader), U32.read(reader)
        flags = U8.read(reader)
        if flags > 3:
            raise Malformed(f"a grant with the flags {flags}")
        return Grant(*before, bool(flags & 1), TRACE.read(reader) if flags & 2 else b"", BYTES.read(reader))


Grant.codec = GrantCodec(Grant)


@record
class Update(Record):
    effect: Effect = of(Effect.codec)
    attempt: Attempt = of(Attempt.codec)
    version: int = of(U64)
    request: bytes = of(BYTES)


@record
class Cancel(Record):
    effect: Effect = of(Effect.codec)
    attempt: Attempt = of(Attempt.codec)


class CommandCodec(Codec):
    kinds: ClassVar[dict[int, Any]] = {1: Grant, 2: Update, 3: Cancel}

    def write(self, out: bytearray, value: Any) -> None:
        U8.write(out, next(kind for kind, cls in self.kinds.items() if isinstance(value, cls)))
        value.codec.write(out, value)

    def read(self, reader: Reader) -> Any:
        kind = U8.read(reader)
        if kind not in self.kinds:
            raise Malformed(f"a command of kind {kind}")
        return self.kinds[kind].codec.read(reader)


@message(TO_PEER, 3)
class Commands(Record):
    number: int = of(U64)
    commands: list[Any] = of(List(CommandCodec()))


@record
class Notable(Record):
    number: int = of(U64)
    code: int = of(U8)
    seq: int = of(U64)


@record
class Answer(Record):
    number: int = of(U64)
    code: int = of(U8)
    value: bytes = of(BYTES)


@message(TO_PEER, 4)
class Acknowledgement(Record):
    base: int = of(U64)
    watermark: int = of(U64)
    notable: list[Any] = of(List(Notable.codec))
    answers: list[Any] = of(Trailing(Answer.codec))


@message(TO_PEER, 5)
class Tick(Record):
    number: int = of(U64)
    watermark: int = of(U64)
    received: int = of(U64)
    stamp: int = of(U64)
    resend: bool = of(FLAG)


@message(TO_PEER, 6)
class Assignments(Record):
    number: int = of(U64)
    watermark: int = of(U64)
    part: int = of(U32)
    parts: int = of(U32)
    grants: list[Any] = of(List(Grant.codec))


@message(TO_PEER, 7)
class Outcomes(Record):
    base: int = of(U64)
    watermark: int = of(U64)
    notable: list[Any] = of(List(Notable.codec))
    answers: list[Any] = of(Trailing(Answer.codec))


@record
class Question(Record):
    """Which message an answer is to: its verb, and the transfer or the request that it named."""

    verb: int = of(U8)
    id: int = of(U64)


@message(TO_PEER, 8)
class Busy(Record):
    to: Question = of(Question.codec)
    milliseconds: int = of(U64)
    reason: str = of(TEXT)


@message(TO_PEER, 9)
class StatePart(Record):
    transfer: int = of(U64)
    seq: int = of(U64)
    part: int = of(U64)
    end: int = of(U8)
    chunk: bytes = of(BYTES)


@message(TO_PEER, 10)
class Status(Record):
    document: bytes = of(BYTES)


@message(TO_PEER, 11)
class Ended(Record):
    seq: int = of(U64)
    exit_code: int = of(I32)
    text: str = of(TEXT)


REFUSED = {
    1: "loop", 2: "schema", 3: "definition", 4: "placement", 5: "version", 6: "section", 7: "key", 8: "role", 9: "session",
}  # fmt: skip


@message(TO_PEER, 12)
class Refused(Record):
    to: Question = of(Question.codec)
    what: int = of(U8)
    reducers: str = of(TEXT)
    peers: str = of(TEXT)


@message(TO_PEER, 13)
class StateUpdate(Record):
    seq: int = of(U64)
    state: bytes = of(BYTES)


@record
class Note(Record):
    seq: int = of(U64)
    time: int = of(I64)
    session: int = of(U64)
    effect: Effect | None = of(Maybe(Effect.codec))
    event: bytes = of(BYTES)


@message(TO_PEER, 14)
class Transitions(Record):
    notes: list[Any] = of(List(Note.codec))


@message(TO_PEER, 15)
class ServerHeartbeat(Record):
    seq: int = of(U64)


@message(TO_PEER, 16)
class AnswerPart(Record):
    request: int = of(U64)
    part: int = of(U32)
    parts: int = of(U32)
    chunk: bytes = of(BYTES)


@message(TO_PEER, 17)
class Delta(Record):
    base: int = of(U64)
    through: int = of(U64)
    seq: int = of(U64)
    hash: int | None = of(Maybe(U64))
    delta: bytes = of(BYTES)


@message(TO_PEER, 18)
class Unchanged(Record):
    base: int = of(U64)
    through: int = of(U64)


@message(TO_PEER, 19)
class StateHash(Record):
    seq: int = of(U64)
    hash: int = of(U64)


@message(TO_PEER, 20)
class GoodbyeHeard(Record):
    pass


@message(TO_PEER, 22)
class Redirect(Record):
    address: str = of(TEXT)


@message(TO_PEER, 23)
class NoLeader(Record):
    milliseconds: int = of(U64)


@record
class RefusalDetail(Record):
    number: int = of(U64)
    text: str = of(TEXT)


@message(TO_PEER, 21)
class RefusalDetails(Record):
    details: list[Any] = of(List(RefusalDetail.codec))


@record
class Header(Record):
    """What every message to a peer begins with."""

    history: int = of(U64)
    epoch: Epoch = of(Epoch.codec)
    session: int = of(U64)


def to_peer(header: Any, body: Any, topic: bytes = b"") -> bytes:
    """A frame for a peer."""
    out = bytearray(topic) + bytes([0x4C, VERSION])
    header.codec.write(out, header)
    U8.write(out, body.verb)
    body.codec.write(out, body)
    return bytes(out)


def read_to_peer(data: bytes) -> tuple[Any, Any]:
    """The header and the message of a frame without a topic."""
    reader = Reader(data)
    read_protocol(reader)
    header = Header.codec.read(reader)
    return header, read_body(reader, TO_PEER)


# Topics

INBOX, STATES, DELTAS, TRANSITIONS, COMMON = b"i", b"u", b"d", b"x", b"t"
TOPIC_BYTES = {INBOX: 27, STATES: 23, DELTAS: 23, TRANSITIONS: 11, COMMON: 11}


def topic(loop: int, channel: bytes, rest: bytes = b"") -> bytes:
    """A topic of a loop; the rest is the peer, or the section and interval."""
    made = struct.pack("<QH", loop, SHARD) + channel + rest
    assert len(made) == TOPIC_BYTES[channel]
    return made


def inbox(loop: int, peer: bytes) -> bytes:
    return topic(loop, INBOX, peer)


def states(loop: int, section: int = 0, interval: int = 0) -> bytes:
    return topic(loop, STATES, struct.pack("<QI", section, interval))


def deltas(loop: int, section: int = 0, interval: int = 0) -> bytes:
    return topic(loop, DELTAS, struct.pack("<QI", section, interval))


def split_topic(data: bytes) -> tuple[bytes, bytes]:
    """The topic of a published frame, and the rest."""
    channel = data[10:11]
    if channel not in TOPIC_BYTES or len(data) < TOPIC_BYTES[channel]:
        raise Malformed("no topic")
    width = TOPIC_BYTES[channel]
    return data[:width], data[width:]
