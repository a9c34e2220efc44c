"""The frames of the Loop protocol, version 1, as a peer writes and reads them.

The tables are those of section 9 of docs/spec/1-PROTOCOL.md. An effect and an attempt stay the 16 bytes that they have on the wire:
they are compared and sent back, and rarely looked into.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import NamedTuple

PROTOCOL = b"\x4c\x01"
SHARD = 0
UNREAD = 2**64 - 1
"""`received` of a tick while batches that have arrived wait to be read."""

EVENT, COMPLETED, FAILED, RELEASED = 1, 2, 3, 4
HAS_EFFECT, WANTS_SEQ, LAST, WANTS_ANSWER, HAS_TRACE = 1, 2, 4, 8, 16

HELLO, JOIN, CLAIM, HEARTBEAT, ASSIGNMENTS_WANTED, OUTCOMES_WANTED, STATE_WANTED, GOODBYE = 1, 2, 3, 4, 5, 6, 7, 8
STATUS_WANTED, PROGRESS = 9, 12

INBOX, STATES, DELTAS, TRANSITIONS, COMMON = b"i", b"u", b"d", b"x", b"t"
_TOPIC_BYTES = {INBOX: 27, STATES: 23, DELTAS: 23, TRANSITIONS: 11, COMMON: 11}

NAME_BYTES_MAX = 128
MESSAGE_BYTES_MAX = 1 << 20
ITEMS_BYTES_MAX = 512 << 10
"""The items of one message: claims, reports."""


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


class Epoch(NamedTuple):
    """A start of a reducer on a journal. The nonce tells a copied journal."""

    number: int
    nonce: int


NO_EPOCH = Epoch(0, 0)


def attempt_order(attempt: bytes) -> tuple[int, int]:
    """What attempts are compared by: the number of the epoch, and the count within it."""
    epoch, count = _TWO.unpack(attempt)
    return epoch, count


def effect_text(effect: bytes) -> str:
    """An effect as people see it: feedback.seq.index, in decimal digits."""
    return ".".join(map(str, _EFFECT.unpack(effect)))


def feedback_number(effect: bytes) -> int:
    """The position of the effect's feedback among the names that the reducer tells."""
    return int.from_bytes(effect[:4], "little")


# 9.1 and 9.2: what a peer writes

_TWO = struct.Struct("<QQ")
_EFFECT = struct.Struct("<IQI")
_TO_REDUCER = struct.Struct("<2sQHB")
_BATCH = struct.Struct("<2sQHQQQQQI")
_U32 = struct.Struct("<I")
_U64 = struct.Struct("<Q")


def _bytes(data: bytes) -> bytes:
    return _U32.pack(len(data)) + data


def _text(text: str) -> bytes:
    return _bytes(text.encode())


def _texts(texts: Sequence[str]) -> bytes:
    return _U32.pack(len(texts)) + b"".join(map(_text, texts))


def _to_reducer(loop: int, verb: int, *parts: bytes) -> bytes:
    return _TO_REDUCER.pack(PROTOCOL, loop, SHARD, verb) + b"".join(parts)


def hello(loop: int, name: str, schema: int) -> bytes:
    """The first message: the name "" and the schema 0 match every loop."""
    return _to_reducer(loop, HELLO, _text(name), _U64.pack(schema))


def join(
    loop: int,
    peer: bytes,
    session: int,
    history: int,
    epoch: Epoch,
    watermark: int,
    schema: int,
    fingerprint: int,
    capacity: int,
    groups: Sequence[str],
    name: str,
    feedbacks: Sequence[str],
) -> bytes:
    """A join request. `peer` has 16 bytes; `feedbacks` are lines `name@placement`."""
    return _to_reducer(
        loop,
        JOIN,
        peer,
        struct.pack("<QQQQQQQI", session, history, *epoch, watermark, schema, fingerprint, capacity),
        _texts(groups),
        _text(name),
        _texts(feedbacks),
    )


def claim(loop: int, session: int, epoch: Epoch, number: int, held: Sequence[bytes]) -> list[bytes]:
    """A whole claim, in as many parts as it needs. Each item is an effect and its attempt, 32 bytes."""
    size = ITEMS_BYTES_MAX // 32
    parts = [held[at : at + size] for at in range(0, len(held), size)] or [[]]
    head = struct.pack("<QQQQ", session, *epoch, number)
    return [
        _to_reducer(loop, CLAIM, head, struct.pack("<III", part, len(parts), len(some)), *some) for part, some in enumerate(parts)
    ]


def heartbeat(loop: int, session: int, epoch: Epoch, echo: int, applied: int, settled: int, capacity: int) -> bytes:
    """A heartbeat, with the stamp of the newest tick."""
    return _to_reducer(loop, HEARTBEAT, struct.pack("<QQQQQQI", session, *epoch, echo, applied, settled, capacity))


def assignments_wanted(loop: int, session: int, epoch: Epoch) -> bytes:
    """A question for everything that should run here."""
    return _to_reducer(loop, ASSIGNMENTS_WANTED, struct.pack("<QQQ", session, *epoch))


def outcomes_wanted(loop: int, session: int, after: int) -> bytes:
    """A question for the outcomes after a number."""
    return _to_reducer(loop, OUTCOMES_WANTED, _TWO.pack(session, after))


def state_wanted(loop: int, transfer: int, part: int, section: str, deltas_ms: int | None = None) -> bytes:
    """A question for a part of the encoded state, or of a section. The transfer 0 begins a new one.

    A follower of deltas says the interval of its stream.
    """
    follows = b"\0" if deltas_ms is None else b"\1" + _U32.pack(deltas_ms)
    return _to_reducer(loop, STATE_WANTED, struct.pack("<QQB", transfer, part, 0), _text(section), follows)


def goodbye(loop: int, session: int, peer: bytes, history: int) -> bytes:
    """The end of a session."""
    return _to_reducer(loop, GOODBYE, _U64.pack(session), peer, _U64.pack(history))


def status_wanted(loop: int) -> bytes:
    """A question for the reducer's status."""
    return _to_reducer(loop, STATUS_WANTED)


def progress(loop: int, session: int, epoch: Epoch, reports: Sequence[tuple[bytes, float, str]]) -> bytes:
    """Reports of attempts, each with an effect and its attempt (32 bytes), a fraction from 0 to 1, and a text."""
    items = [held + struct.pack("<H", round(fraction * 10_000)) + _text(text) for held, fraction, text in reports]
    return _to_reducer(loop, PROGRESS, struct.pack("<QQQI", session, *epoch, len(items)), *items)


def entry(kind: int, flags: int, held: bytes, payload: bytes, trace: bytes = b"") -> bytes:
    """An entry. `held` is an effect and its attempt, or empty; `trace` is a trace context of 25 bytes, or empty."""
    return bytes((kind, flags | (HAS_TRACE if trace else 0))) + held + trace + _U32.pack(len(payload)) + payload


def failure(message: str, is_final: bool = False, delay_ms: int | None = None) -> bytes:
    """The payload of `failed`."""
    flags = (1 if is_final else 0) | (2 if delay_ms is not None else 0)
    return struct.pack("<BQ", flags, delay_ms or 0) + _bytes(message.encode(errors="backslashreplace"))


def batch(loop: int, history: int, session: int, settled: int, applied: int, first: int, entries: Sequence[bytes]) -> bytes:
    """A run of numbered entries."""
    head = _BATCH.pack(PROTOCOL, loop, SHARD, history, session, settled, applied, first, len(entries))
    return head + b"".join(entries)


def topic(loop: int, channel: bytes, rest: bytes = b"") -> bytes:
    """A topic. `rest` is the peer of an inbox, or the section and the interval of updates."""
    return struct.pack("<QH", loop, SHARD) + channel + rest


def states_topic(loop: int, section: str, interval_ms: int, channel: bytes = STATES) -> bytes:
    """The topic of whole states, or of a section's; on the channel `DELTAS`, of deltas."""
    return topic(loop, channel, struct.pack("<QI", fnv1a(section.encode()) if section else 0, interval_ms))


# 9.3: what a peer reads


class Reader:
    """The bytes of a frame, read from the front. No length is trusted beyond what is there."""

    __slots__ = ("at", "data")

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data = data
        self.at = at

    def take(self, count: int) -> bytes:
        """The next bytes."""
        end = self.at + count
        if end > len(self.data):
            raise Malformed(f"{count} bytes are wanted at {self.at} of {len(self.data)}")
        part = self.data[self.at : end]
        self.at = end
        return part

    def u8(self) -> int:
        return self.take(1)[0]

    def u32(self) -> int:
        return int.from_bytes(self.take(4), "little")

    def u64(self) -> int:
        return int.from_bytes(self.take(8), "little")

    def signed(self, width: int) -> int:
        return int.from_bytes(self.take(width), "little", signed=True)

    def flag(self) -> bool:
        byte = self.u8()
        if byte > 1:
            raise Malformed(f"a flag of {byte}")
        return byte == 1

    def bytes(self) -> bytes:
        return self.take(self.u32())

    def text(self) -> str:
        try:
            return self.bytes().decode()
        except UnicodeDecodeError as error:
            raise Malformed("a string that is not UTF-8") from error


class Header(NamedTuple):
    """What every message to a peer begins with."""

    history: int
    epoch: Epoch
    session: int


class Introduction(NamedTuple):
    """Where the other sockets of a reducer are."""

    loop: str
    schema: int
    fingerprint: int
    publisher: str
    collector: str
    event_bytes_max: int


class JoinAccepted(NamedTuple):
    """The admission of a peer, through its inbox."""

    watermark: int
    silence_ms: int
    tick_ms: int
    feedbacks: list[str]


class Grant(NamedTuple):
    """An attempt that is to run here."""

    effect: bytes
    attempt: bytes
    version: int
    failures: int
    is_resumed: bool
    request: bytes
    trace: bytes = b""
    """The trace context of the transition that asked for the effect; empty if it is in none."""


class Update(NamedTuple):
    """Another request of an effect that runs here."""

    effect: bytes
    attempt: bytes
    version: int
    request: bytes


class Cancel(NamedTuple):
    """An attempt that is to end."""

    effect: bytes
    attempt: bytes


Command = Grant | Update | Cancel


class Commands(NamedTuple):
    """A numbered message of the inbox."""

    number: int
    commands: list[Command]


class Acknowledgement(NamedTuple):
    """Outcomes. `notable` is by number: the code and the seq. `answers` likewise: the code and the bytes."""

    base: int
    watermark: int
    notable: dict[int, tuple[int, int]]
    answers: dict[int, tuple[int, bytes]]


class Outcomes(NamedTuple):
    """Outcomes that were asked for."""

    news: Acknowledgement


class Tick(NamedTuple):
    """A sign of life, and how far the reducer has read."""

    number: int
    watermark: int
    received: int
    stamp: int
    resend: bool


class Assignments(NamedTuple):
    """A part of everything that should run here."""

    number: int
    watermark: int
    part: int
    parts: int
    grants: list[Grant]


class Question(NamedTuple):
    """Which message an answer is to."""

    verb: int
    id: int


class Busy(NamedTuple):
    """The question is to be asked again, after some time."""

    to: Question
    milliseconds: int
    reason: str


class StatePart(NamedTuple):
    """A part of an encoded state. `end` is 2 with its last part."""

    transfer: int
    seq: int
    part: int
    end: int
    chunk: bytes


class Status(NamedTuple):
    """The reducer's report, in CBOR."""

    document: bytes


class Ended(NamedTuple):
    """The loop has an outcome."""

    seq: int
    exit_code: int
    text: str


class Refused(NamedTuple):
    """The peer, observer or tool that asked this has ended."""

    to: Question
    what: int
    reducers: str
    peers: str


class StateUpdate(NamedTuple):
    """A state, in CBOR."""

    seq: int
    state: bytes


class Note(NamedTuple):
    """An applied event."""

    seq: int
    time_ms: int
    session: int
    effect: bytes
    event: bytes


class Transitions(NamedTuple):
    """Applied events."""

    notes: list[Note]


class ServerHeartbeat(NamedTuple):
    """The newest seq."""

    seq: int


class Unchanged(NamedTuple):
    """From one seq through another, the section was the same."""

    first: int
    through: int


class Delta(NamedTuple):
    """What makes the state at a seq of the one that was the same from `first` through `through`."""

    first: int
    through: int
    seq: int
    hash: int | None
    delta: bytes


class StateHash(NamedTuple):
    """The FNV-1a of the encoded state at a seq."""

    seq: int
    hash: int


class GoodbyeHeard(NamedTuple):
    """The session has ended."""


class Redirect(NamedTuple):
    """Where a standby believes the leader to be."""

    address: str


class NoLeader(NamedTuple):
    """A standby knows of no leader."""

    milliseconds: int


class RefusalDetails(NamedTuple):
    """What is wrong with entries, by their numbers, for people."""

    texts: dict[int, str]


class Other(NamedTuple):
    """A message that this package has no use for."""


_ToMachine = Introduction | JoinAccepted | Commands | Acknowledgement | Tick | Assignments | Outcomes | RefusalDetails
_ToObserver = StatePart | Status | StateUpdate | Transitions | ServerHeartbeat | Unchanged | Delta | StateHash
Message = _ToMachine | _ToObserver | GoodbyeHeard | Busy | Ended | Refused | Redirect | NoLeader | Other

_HEADER = struct.Struct("<2sQQQQB")
_TRACE_BYTES = 25
_GRANTED = struct.Struct("<16s16sQIBI")


def _grant(r: Reader) -> Grant:
    try:
        # With a trace, the size is behind it, and these are its first bytes.
        effect, attempt, version, failures, flags, size = _GRANTED.unpack_from(r.data, r.at)
    except struct.error as error:
        raise Malformed("a grant that is cut off") from error
    if flags > 3:
        raise Malformed(f"a grant with the flags {flags}")
    r.at += _GRANTED.size
    trace = b""
    if flags & 2:
        r.at -= 4
        trace, size = r.take(_TRACE_BYTES), r.u32()
        if not (any(trace[:16]) and any(trace[16:24]) and trace[24] == 1):
            raise Malformed("a trace context that names nothing or is not sampled")
    return Grant(effect, attempt, version, failures, flags & 1 != 0, r.take(size), trace)


def _commands(r: Reader) -> Commands:
    number, count = r.u64(), r.u32()
    commands: list[Command] = []
    for _ in range(count):
        kind = r.u8()
        if kind == 1:
            commands.append(_grant(r))
        elif kind == 2:
            commands.append(Update(r.take(16), r.take(16), r.u64(), r.bytes()))
        elif kind == 3:
            commands.append(Cancel(r.take(16), r.take(16)))
        else:
            raise Malformed(f"a command of kind {kind}")
    return Commands(number, commands)


def _acknowledgement(r: Reader) -> Acknowledgement:
    base, watermark = r.u64(), r.u64()
    notable = {r.u64(): (r.u8(), r.u64()) for _ in range(r.u32())}
    answers: dict[int, tuple[int, bytes]] = {}
    if r.at < len(r.data):
        answers = {r.u64(): (r.u8(), r.bytes()) for _ in range(r.u32())}
        if not answers:
            raise Malformed("a list of nothing")
    return Acknowledgement(base, watermark, notable, answers)


def _assignments(r: Reader) -> Assignments:
    return Assignments(r.u64(), r.u64(), r.u32(), r.u32(), [_grant(r) for _ in range(r.u32())])


def _notes(r: Reader) -> Transitions:
    notes = []
    for _ in range(r.u32()):
        seq, time, session = r.u64(), r.signed(8), r.u64()
        notes.append(Note(seq, time, session, r.take(16) if r.flag() else b"", r.bytes()))
    return Transitions(notes)


def _delta(r: Reader) -> Delta:
    first, through, seq = r.u64(), r.u64(), r.u64()
    if not first <= through < seq:
        raise Malformed(f"a delta from {first} through {through} to {seq}")
    return Delta(first, through, seq, r.u64() if r.flag() else None, r.bytes())


def _other(r: Reader) -> Other:
    r.at = len(r.data)
    return Other()


_BODIES: dict[int, Callable[[Reader], Message]] = {
    1: lambda r: Introduction(r.text(), r.u64(), r.u64(), r.text(), r.text(), r.u32()),
    2: lambda r: JoinAccepted(r.u64(), r.u64(), r.u64(), [r.text() for _ in range(r.u32())]),
    3: _commands,
    4: _acknowledgement,
    5: lambda r: Tick(r.u64(), r.u64(), r.u64(), r.u64(), r.flag()),
    6: _assignments,
    7: lambda r: Outcomes(_acknowledgement(r)),
    8: lambda r: Busy(Question(r.u8(), r.u64()), r.u64(), r.text()),
    9: lambda r: StatePart(r.u64(), r.u64(), r.u64(), r.u8(), r.bytes()),
    10: lambda r: Status(r.bytes()),
    11: lambda r: Ended(r.u64(), r.signed(4), r.text()),
    12: lambda r: Refused(Question(r.u8(), r.u64()), r.u8(), r.text(), r.text()),
    13: lambda r: StateUpdate(r.u64(), r.bytes()),
    14: _notes,
    15: lambda r: ServerHeartbeat(r.u64()),
    16: _other,
    17: _delta,
    18: lambda r: Unchanged(r.u64(), r.u64()),
    19: lambda r: StateHash(r.u64(), r.u64()),
    20: lambda _: GoodbyeHeard(),
    21: lambda r: RefusalDetails({r.u64(): r.text() for _ in range(r.u32())}),
    22: lambda r: Redirect(r.text()),
    23: lambda r: NoLeader(r.u64()),
}


def read(data: bytes, at: int = 0) -> tuple[Header, Message]:
    """The header and the message of a frame, whose topic ends at `at`.

    Raises `Malformed` for everything else.
    """
    try:
        protocol, history, number, nonce, session, verb = _HEADER.unpack_from(data, at)
    except struct.error as error:
        raise Malformed("a header that is cut off") from error
    if protocol != PROTOCOL:
        raise Malformed("another protocol, or another version of it")
    body = _BODIES.get(verb)
    if body is None:
        raise Malformed(f"verb {verb}")
    reader = Reader(data, at + _HEADER.size)
    message = body(reader)
    if reader.at != len(data):
        raise Malformed(f"{len(data) - reader.at} bytes after the last field")
    return Header(history, Epoch(number, nonce), session), message


def channel(data: bytes) -> tuple[bytes, int]:
    """The channel of a published frame, and where its topic ends."""
    kind = data[10:11]
    width = _TOPIC_BYTES.get(kind)
    if width is None or len(data) < width:
        raise Malformed("no topic")
    return kind, width
