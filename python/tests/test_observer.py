"""The machine of an observer: it shows states that existed, in order, and finds what is missing."""

from __future__ import annotations

from loop_worker import wire
from loop_worker.observer import Observer

LOOP, EPOCH, HISTORY = 3, wire.Epoch(1, 7), 5
HEADER = wire.Header(HISTORY, EPOCH, 0)


def observer() -> Observer:
    """An observer that shows the state of seq 4."""
    own = Observer(LOOP)
    own.advance(10)
    assert [question[-22:-14] for question in own.take_questions()] == [bytes(8)]
    own.hear(HEADER, wire.StatePart(9, 4, 0, 2, b"four"), b"", 10)
    assert shown(own) == [(4, b"four")]
    return own


def shown(own: Observer) -> list[tuple[int, bytes]]:
    return [(position.seq, data) for position, data in own.take_states()]


def parts(own: Observer) -> list[int]:
    return [int.from_bytes(question[21:29], "little") for question in own.take_questions()]


def test_updates_are_shown_in_order_and_late_ones_are_not() -> None:
    own = observer()
    for seq in (5, 7, 6, 7):
        own.hear(HEADER, wire.StateUpdate(seq, b"s%d" % seq), own.topic, 11)
    assert shown(own) == [(5, b"s5"), (7, b"s7")]
    own.hear(HEADER, wire.StateUpdate(9, b"other"), wire.states_topic(LOOP, "queue", 0), 11)
    assert shown(own) == []


def test_a_lost_update_is_noticed_by_the_heartbeat_and_fetched_after_some_patience() -> None:
    own = observer()
    own.hear(HEADER, wire.ServerHeartbeat(6), b"", 11)
    assert own.advance(11.1) == 11.15
    assert parts(own) == []
    own.advance(11.16)
    assert parts(own) == [0]
    # An update that comes meanwhile ends the wait.
    own.hear(HEADER, wire.StateUpdate(6, b"six"), own.topic, 11.2)
    assert own.advance(12) == float("inf")


def test_parts_that_do_not_arrive_are_asked_for_again() -> None:
    own = Observer(LOOP)
    own.advance(10)
    assert parts(own) == [0]
    own.hear(HEADER, wire.StatePart(9, 4, 0, 0, b"a"), b"", 10)
    assert parts(own) == list(range(1, 9))
    own.hear(HEADER, wire.StatePart(9, 4, 2, 2, b"c"), b"", 10.1)
    own.hear(HEADER, wire.StatePart(8, 3, 1, 1, b"x"), b"", 10.1)
    own.take_questions()
    own.advance(10.4)
    assert parts(own) == [1]
    own.hear(HEADER, wire.StatePart(9, 4, 1, 1, b"b"), b"", 10.5)
    assert shown(own) == [(4, b"abc")]


def test_a_busy_reducer_is_asked_again_after_its_time() -> None:
    own = Observer(LOOP)
    own.advance(10)
    own.take_questions()
    own.hear(HEADER, wire.Busy(wire.Question(wire.STATE_WANTED, 0), 1000, ""), b"", 10)
    assert own.advance(10.5) == 11
    own.advance(11)
    assert parts(own) == [0]


def test_a_new_epoch_begins_with_a_state_of_its_own_which_may_be_older() -> None:
    own = observer()
    newer = wire.Header(HISTORY, wire.Epoch(2, 8), 0)
    own.hear(newer, wire.ServerHeartbeat(3), b"", 11)
    own.advance(11.2)
    assert parts(own) == [0]
    own.hear(HEADER, wire.StateUpdate(8, b"late"), own.topic, 11.2)
    own.hear(newer, wire.StatePart(1, 3, 0, 2, b"three"), b"", 11.2)
    assert shown(own) == [(3, b"three")]


def test_a_history_that_was_left_is_not_returned_to() -> None:
    own = observer()
    own.hear(wire.Header(6, EPOCH, 0), wire.StateUpdate(1, b"one"), own.topic, 11)
    own.hear(HEADER, wire.StateUpdate(9, b"late"), own.topic, 11)
    assert shown(own) == [(1, b"one")]
    # A reducer of that history answers a hello, so the history is not over.
    own.introduced(HISTORY)
    own.hear(HEADER, wire.StateUpdate(9, b"back"), own.topic, 12)
    assert shown(own) == [(9, b"back")]


def test_a_section_that_is_the_same_at_a_later_seq_is_known_there() -> None:
    own = Observer(LOOP, "queue")
    own.advance(10)
    own.take_questions()
    own.hear(HEADER, wire.StatePart(9, 4, 0, 2, b"four"), b"", 10)
    own.hear(HEADER, wire.ServerHeartbeat(9), b"", 11)
    assert own.advance(12) == float("inf")
    own.hear(HEADER, wire.Unchanged(4, 9), own.topic, 12)
    assert shown(own) == [(4, b"four"), (9, b"")]
    # A change between 9 and 12 was lost.
    own.hear(HEADER, wire.Unchanged(12, 13), own.topic, 13)
    own.advance(13.2)
    assert parts(own) == [0]


def test_parts_that_were_not_asked_for_are_of_no_use() -> None:
    own = Observer(LOOP)
    own.advance(10)
    for part, end in ((2**64 - 1, 0), (0, 0), (2**64 - 1, 0), (5, 0), (1, 2)):
        own.hear(HEADER, wire.StatePart(9, 4, part, end, b"%d" % part), b"", 10)
    assert shown(own) == [(4, b"01")]
