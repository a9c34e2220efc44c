"""The machine of an observer: it shows states that existed, in order, and finds what is missing."""

from __future__ import annotations

from typing import Annotated, Any

from loop_worker import Tracked, encode, wire
from loop_worker.deltas import Fold
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
    """The seqs and bytes of the states since the last call."""
    return [(position.seq, data if isinstance(data, bytes) else encode(data.value)) for position, data in own.take_states()]


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


# Deltas. The state is a tracked dictionary, so that its bytes are an array of keys and values.


def folding(section: str = "") -> Observer:
    """An observer of deltas that shows the state of seq 4, in which 1 is 0."""
    own = Observer(LOOP, section, 200, Fold(Annotated[dict[int, int], Tracked]))
    own.advance(10)
    [question] = own.take_questions()
    assert question == wire.state_wanted(LOOP, 0, 0, section, 200)
    hear(own, wire.StatePart(9, 4, 0, 2, encode([1, 0])), 10)
    assert shown(own) == [(4, encode([1, 0]))]
    return own


def hear(own: Observer, message: wire.Message, now: float = 11, header: wire.Header = HEADER) -> None:
    own.hear(header, message, own.topic, now)


def delta(first: int, through: int, seq: int, value: Any, hashed: Any = None, *, inserts: bool = False) -> wire.Delta:
    """A delta that sets 1 to a value, or inserts it."""
    pairs = [[], [1, value]] if not inserts else [[1, value], []]
    expected = None if hashed is None else wire.fnv1a(encode(hashed))
    return wire.Delta(first, through, seq, expected, encode([[], [], *reversed(pairs)]))


def test_deltas_are_folded_if_their_base_is_the_state_that_is_shown() -> None:
    own = folding()
    hear(own, delta(4, 4, 5, 5, [1, 5]))
    hear(own, wire.Unchanged(5, 7))
    # Its base was the same at some of the seqs from 5 through 7.
    hear(own, delta(6, 8, 9, 9))
    hear(own, delta(3, 3, 4, 4))
    assert shown(own) == [(5, encode([1, 5])), (7, b""), (9, encode([1, 9]))]
    assert own.advance(20) == float("inf")
    # The base of this one ended before the state that is shown.
    hear(own, delta(4, 8, 10, 10))
    assert shown(own) == []
    assert own.divergence is None


def test_after_a_lost_delta_the_state_is_fetched_and_what_waits_is_folded() -> None:
    own = folding()
    hear(own, delta(5, 5, 6, 6))
    hear(own, delta(6, 6, 7, 7))
    assert shown(own) == []
    own.advance(11)
    assert parts(own) == [0]
    # The answer may be of any seq up to the newest.
    hear(own, wire.StatePart(10, 6, 0, 2, encode([1, 60])), 11.1)
    assert shown(own) == [(6, encode([1, 60])), (7, encode([1, 7]))]
    assert own.advance(20) == float("inf")


def test_a_state_on_which_what_waits_does_not_build_is_followed_by_another_question_but_not_at_once() -> None:
    own = folding()
    hear(own, delta(6, 6, 7, 7))
    own.advance(11)
    parts(own)
    hear(own, wire.StatePart(10, 5, 0, 2, encode([1, 5])), 11)
    assert shown(own) == [(5, encode([1, 5]))]
    assert own.advance(11.1) == 11.3
    own.advance(11.3)
    assert parts(own) == [0]


def test_a_lost_last_delta_is_noticed_by_the_heartbeat() -> None:
    own = folding()
    hear(own, wire.ServerHeartbeat(6))
    # The stream has an interval of 200 ms.
    assert own.advance(11) == 11.35
    own.advance(11.35)
    assert parts(own) == [0]


def test_a_result_with_another_hash_is_not_shown_and_the_state_is_fetched_after_a_pause_if_that_has_not_helped() -> None:
    own = folding()
    for now, pause in ((11.0, 0), (12.0, 5)):
        hear(own, delta(4, 4, 5, 5, [1, 6]), now)
        assert own.divergence is not None
        assert "a delta to the state at seq 5 is wrong: it has another hash" in own.divergence
        assert own.advance(now) == now + (pause or 0.3)
        own.advance(now + pause)
        assert parts(own) == [0]
        hear(own, wire.StatePart(10, 4, 0, 2, encode([1, 0])), now + pause)
        # The state of this seq was shown before, and here is another look at it.
        assert shown(own) == [(4, encode([1, 0]))]
    hear(own, delta(4, 4, 5, 5, [1, 5]), 18)
    assert shown(own) == [(5, encode([1, 5]))]


def test_a_delta_that_cannot_be_folded_is_not_shown() -> None:
    own = folding()
    hear(own, delta(4, 4, 5, 5, inserts=True))
    assert own.divergence is not None
    assert "the key 1 is inserted, and it is there" in own.divergence
    # Nothing is built on a state that was not fetched since.
    hear(own, delta(4, 4, 5, 5))
    assert shown(own) == []
    own.advance(11)
    hear(own, wire.StatePart(10, 4, 0, 2, encode([1, 0])))
    assert shown(own) == [(4, encode([1, 0])), (5, encode([1, 5]))]


def test_a_shown_state_is_compared_with_the_hash_that_comes_later() -> None:
    own = folding()
    hear(own, delta(4, 4, 5, 5))
    for seq, value in ((4, 0), (5, 5), (5, 5), (6, 6)):
        hear(own, wire.StateHash(seq, wire.fnv1a(encode([1, value]))))
        assert own.divergence is None
    hear(own, wire.StateHash(5, 1))
    assert own.divergence == "the state at seq 5 is wrong: it has another hash than the reducer's state"
    assert shown(own) == [(5, encode([1, 5]))]
    own.advance(11)
    own.divergence = None
    hear(own, wire.StatePart(10, 5, 0, 2, encode([1, 50])))
    assert shown(own) == [(5, encode([1, 50]))]
    # The tick repeats the hash.
    hear(own, wire.StateHash(5, 1))
    assert own.divergence is not None


def test_nothing_is_folded_into_a_state_of_another_epoch() -> None:
    own = folding()
    newer = wire.Header(HISTORY, wire.Epoch(2, 8), 0)
    hear(own, delta(4, 4, 5, 5), 11, newer)
    assert shown(own) == []
    own.advance(11)
    assert parts(own) == [0]
    hear(own, wire.StatePart(1, 4, 0, 2, encode([1, 1])), 11, newer)
    assert shown(own) == [(4, encode([1, 1])), (5, encode([1, 5]))]


def test_deltas_of_a_section_are_folded_after_it_was_the_same_for_a_while() -> None:
    own = folding("queue")
    hear(own, wire.Unchanged(2, 9))
    hear(own, wire.StateHash(3, wire.fnv1a(encode([1, 0]))))
    hear(own, delta(9, 9, 12, 5, [1, 5]))
    hear(own, wire.Unchanged(14, 15))
    assert shown(own) == [(9, b""), (12, encode([1, 5]))]
    own.advance(11.35)
    assert parts(own) == [0]


def test_a_state_that_is_not_of_the_type_is_shown_as_it_is_and_not_built_on() -> None:
    own = folding()
    hear(own, wire.StateUpdate(5, encode("five")))
    hear(own, delta(5, 5, 6, 6))
    assert shown(own) == [(5, encode("five"))]
    assert own.divergence is not None
    assert own.divergence.startswith("the state at seq 5 is not of the type: ")


def test_deltas_that_wait_are_bounded() -> None:
    own = folding()
    for seq in range(6, 30):
        hear(own, wire.Delta(seq - 1, seq - 1, seq, None, bytes(1 << 20)))
    assert sum(len(one.delta) for one in own._waiting) == 8 << 20
