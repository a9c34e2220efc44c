"""Frames, by the vectors that the Swift tests read too."""

from __future__ import annotations

import pytest
from conftest import ROOT

from loop_worker import wire

LINES = (ROOT / "Tests/LoopWireTests/Vectors/messages.txt").read_text(encoding="utf-8").splitlines()
VECTORS = {name: bytes.fromhex(digits) for name, _, digits in (line.partition("; ") for line in LINES if line and line[0] != "#")}
OF_REDUCERS = {name: data for name, data in VECTORS.items() if name.startswith("reducer: ")}

LOOP = wire.loop_id("slots")
EPOCH = wire.Epoch(3, 0xDEADBEEF)
PEER = bytes.fromhex("7766554433221100ffeeddccbbaa9988")
EFFECT = bytes.fromhex("02000000070000000000000001000000")
ATTEMPT = bytes.fromhex("03000000000000000900000000000000")
TRACE = bytes.fromhex("0af7651916cd43dd8448eb211c80319cb7ad6b716920333101")

WRITTEN = {
    "peer: hello": wire.hello(LOOP, "slots", 1),
    "peer: join": wire.join(
        LOOP, PEER, 11, 0xABCD, EPOCH, 5, 1, 0xFEED, 8, ["default", "gpu"], "w\u00f6rker 1", ["jobs@workers(default)"]
    ),
    "peer: heartbeat": wire.heartbeat(LOOP, 11, EPOCH, 123, 4, 5, 8),
    "peer: assignments?": wire.assignments_wanted(LOOP, 11, EPOCH),
    "peer: outcomes?": wire.outcomes_wanted(LOOP, 11, 5),
    "peer: state?": wire.state_wanted(LOOP, 1, 8, ""),
    "peer: state? of a section": wire.state_wanted(LOOP, 0, 0, "queue"),
    "peer: progress": wire.progress(LOOP, 11, EPOCH, [(EFFECT + ATTEMPT, 0.4, "page 12")]),
    "peer: goodbye": wire.goodbye(LOOP, 11, PEER, 0xABCD),
    "peer: status?": wire.status_wanted(LOOP),
    "topic: whole states": wire.states_topic(LOOP, "", 0),
    "topic: transitions": wire.topic(LOOP, wire.TRANSITIONS),
    "topic: server heartbeat": wire.topic(LOOP, wire.COMMON),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_message_is_written_as_its_vector(name: str) -> None:
    assert WRITTEN[name].hex() == VECTORS[name].hex()


def test_a_claim_is_written_as_its_vector_which_is_a_middle_part() -> None:
    data = bytearray(wire.claim(LOOP, 11, EPOCH, 2, [EFFECT + ATTEMPT])[0])
    data[45:53] = (1).to_bytes(4, "little") + (3).to_bytes(4, "little")
    assert data.hex() == VECTORS["peer: claim"].hex()
    many = [bytes(32)] * 40_000
    parts = wire.claim(LOOP, 11, EPOCH, 2, many)
    assert max(map(len, parts)) < wire.MESSAGE_BYTES_MAX
    assert sum(int.from_bytes(part[53:57], "little") for part in parts) == len(many)


def test_a_batch_is_written_as_its_vector() -> None:
    data = VECTORS["peer: batch that asks"]
    held = EFFECT + ATTEMPT
    asks = wire.WANTS_SEQ | wire.WANTS_ANSWER
    entries = [wire.entry(wire.EVENT, asks, b"", b"\1\2"), wire.entry(wire.EVENT, asks | wire.HAS_EFFECT, held, b"\3")]
    assert wire.batch(LOOP, 0xABCD, 11, 5, 4, 12, entries).hex() == data.hex()
    entries = [
        wire.entry(wire.EVENT, 0, b"", b"\1", TRACE),
        wire.entry(wire.EVENT, asks, b"", b"\2", TRACE),
        wire.entry(wire.EVENT, wire.LAST | wire.HAS_EFFECT, held, b"\3", TRACE),
    ]
    assert wire.batch(LOOP, 0xABCD, 11, 5, 4, 14, entries).hex() == VECTORS["peer: batch in a trace"].hex()


def test_a_grant_keeps_its_trace_and_one_that_names_nothing_is_malformed() -> None:
    data = OF_REDUCERS["reducer: commands in a trace"]
    commands = wire.read(data)[1]
    assert isinstance(commands, wire.Commands)
    [grant, _] = commands.commands
    assert isinstance(grant, wire.Grant)
    assert (grant.trace, grant.is_resumed, grant.request) == (TRACE, True, b"\1\2\3")
    at = data.index(TRACE)
    for cut in (slice(at, at + 16), slice(at + 16, at + 24), slice(at + 24, at + 25)):
        wrong = bytearray(data)
        wrong[cut] = bytes(cut.stop - cut.start)
        with pytest.raises(wire.Malformed):
            wire.read(bytes(wrong))


@pytest.mark.parametrize("name", OF_REDUCERS)
def test_a_message_of_a_reducer_is_read_and_no_part_of_it_is(name: str) -> None:
    data, at = OF_REDUCERS[name], 0
    if name.endswith("in its inbox"):
        channel, at = wire.channel(data)
        assert channel == wire.INBOX
    header, message = wire.read(data, at)
    assert header == wire.Header(0xABCD, EPOCH, 11) or name.endswith("redirect")
    if type(message) is not wire.Other:
        for end in range(at, len(data)):
            try:
                shorter = wire.read(data[:end], at)[1]
            except wire.Malformed:
                continue
            # A message without answers ends before them.
            news = shorter.news if isinstance(shorter, wire.Outcomes) else shorter
            assert isinstance(news, wire.Acknowledgement)
            assert not news.answers
        with pytest.raises(wire.Malformed):
            wire.read(data + b"\0", at)


def test_a_changed_bit_is_a_value_or_an_error() -> None:
    for data in OF_REDUCERS.values():
        for bit in range(len(data) * 8):
            changed = bytearray(data)
            changed[bit // 8] ^= 1 << bit % 8
            try:
                wire.read(bytes(changed))
            except wire.Malformed:
                continue


def test_the_fields_of_vectors_are_these() -> None:
    def message(name: str) -> wire.Message:
        return wire.read(VECTORS[f"reducer: {name}"])[1]

    grant = wire.Grant(EFFECT, ATTEMPT, 8, 2, True, b"\1\2\3")
    assert message("introduction") == wire.Introduction("slots", 1, 0xFEED, "7711", "7712", 1024)
    assert message("join accepted") == wire.JoinAccepted(5, 3000, 500, ["updating", "jobs"])
    commands = message("commands")
    assert isinstance(commands, wire.Commands)
    assert commands.number == 4
    assert commands.commands[0] == grant
    assert [type(one) for one in commands.commands] == [wire.Grant, wire.Update, wire.Cancel]
    assert message("acknowledgement") == wire.Acknowledgement(3, 6, {4: (0, 7), 5: (1, 0)}, {})
    assert message("tick") == wire.Tick(4, 5, 6, 123456789, True)
    assert message("assignments") == wire.Assignments(4, 5, 0, 2, [grant])
    assert message("busy") == wire.Busy(wire.Question(7, 9), 1000, "full")
    assert message("ended") == wire.Ended(41, 1, "3 broken links")
    assert message("redirect") == wire.Redirect("tcp://b:7710")
    assert message("no leader") == wire.NoLeader(500)
