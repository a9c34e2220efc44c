"""The machine of a peer, without sockets and clocks: each test is a conversation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from loop_worker import Refusal, Refused, machine, wire
from loop_worker.machine import Machine, Phase

EPOCH, HISTORY = wire.Epoch(1, 77), 5
PLACE = "tcp://a:1"


def effect(seq: int) -> bytes:
    return wire._EFFECT.pack(0, seq, 0)


def attempt(count: int, epoch: int = 1) -> bytes:
    return wire._TWO.pack(epoch, count)


def grant(seq: int, count: int | None = None, version: int = 1) -> wire.Grant:
    return wire.Grant(effect(seq), attempt(count or seq), version, 0, False, b"\0")


@dataclass
class Talk:
    """A machine, and the reducer that the test plays."""

    places: tuple[str, ...] = (PLACE,)
    now: float = 100.0
    epoch: wire.Epoch = EPOCH
    history: int = HISTORY
    session: int = 9
    watermark: int = 0
    inbox: int = 0
    machine: Machine = field(init=False)

    def __post_init__(self) -> None:
        configuration = machine.Configuration("slots", self.places, 0, ["default"], ["f@workers(default)"], capacity=4)
        self.machine = Machine(configuration, b"p" * 16, self.now)

    @property
    def header(self) -> wire.Header:
        return wire.Header(self.history, self.epoch, self.session)

    def hear(self, message: wire.Message, header: wire.Header | None = None) -> list[Any]:
        self.machine.receive_published(header or self.header, message, self.machine.place, self.now)
        return self.machine.take_actions()

    def reply(self, message: wire.Message, header: wire.Header | None = None) -> list[Any]:
        self.machine.receive_reply(header or self.header, message, self.now)
        return self.machine.take_actions()

    def wait(self, seconds: float) -> list[Any]:
        self.now += seconds
        self.machine.advance(self.now)
        return self.machine.take_actions()

    def verbs(self, seconds: float = 0.0) -> list[int]:
        return [action.data[12] for action in self.wait(seconds) if isinstance(action, machine.Send)]

    def admit(self, *grants: wire.Grant) -> list[Any]:
        if self.machine.phase is Phase.INTRODUCING:
            self.reply(wire.Introduction("slots", 1, 0, "2", "3", 1000))
        self.wait(0)
        self.hear(wire.JoinAccepted(self.watermark, 3000, 500, ["f"]))
        assert self.machine.phase is Phase.CLAIMING
        self.wait(0)
        self.inbox += 1
        return self.reply(wire.Assignments(self.inbox, self.watermark, 0, 1, list(grants)))

    def command(self, *commands: wire.Command) -> list[Any]:
        self.inbox += 1
        return self.hear(wire.Commands(self.inbox, list(commands)))

    def tick(self, received: int, resend: bool = False, stamp: float | None = None) -> list[Any]:
        at = int((self.now if stamp is None else stamp) * 1e9)
        return self.hear(wire.Tick(self.inbox, self.watermark, received, at, resend))

    def ack(self, watermark: int, base: int | None = None, **codes: int) -> list[Any]:
        before, self.watermark = self.watermark, watermark
        notable = {int(number[1:]): (code, 0) for number, code in codes.items()}
        return self.hear(wire.Acknowledgement(before if base is None else base, watermark, notable, {}))

    def send(self, seq: int, payload: bytes = b"e", flags: int = 0, token: object = None) -> bool:
        return self.machine.accept(wire.EVENT, flags, effect(seq) + attempt(seq), payload, token)

    def losses(self) -> dict[str, int]:
        """How often the machine has lost its reducer, by the causes that there were."""
        return {cause: count for cause, count in self.machine.losses.items() if count}

    def batch(self) -> tuple[int, int] | None:
        """The first number and the count of the next batch."""
        found = self.machine.next_batch()
        if found is None:
            return None
        return found[0], int.from_bytes(found[1][52:56], "little")


def test_each_step_of_the_way_in_is_repeated_until_the_next() -> None:
    talk = Talk()
    assert [talk.verbs(0), talk.verbs(0.1), talk.verbs(0.11)] == [[wire.HELLO], [], [wire.HELLO]]
    assert talk.reply(wire.Introduction("slots", 1, 0, "2", "3", 1000))[0].introduction.publisher == "2"
    assert [talk.verbs(0), talk.verbs(0.2)] == [[wire.JOIN], [wire.JOIN]]
    assert talk.hear(wire.JoinAccepted(0, 3000, 500, ["f"])) == [machine.Admitted(["f"])]
    assert [talk.verbs(0), talk.verbs(0.2)] == [[wire.CLAIM], [wire.CLAIM]]
    assert talk.reply(wire.Assignments(1, 0, 0, 1, [grant(1)])) == [machine.Start(grant(1))]
    assert talk.machine.is_joined
    assert [talk.verbs(0), talk.verbs(0.5)] == [[wire.HEARTBEAT], [wire.HEARTBEAT]]


def test_an_attempt_runs_at_most_once_until_its_last_entry_is_settled() -> None:
    talk = Talk()
    talk.admit(grant(1))
    assert talk.send(1, flags=wire.LAST)
    assert talk.reply(wire.Assignments(2, 0, 0, 1, [grant(1)])) == []
    assert talk.batch() == (1, 1)
    talk.ack(1)
    assert not talk.machine._finished


def test_a_claim_names_what_runs_and_what_waits_in_the_outbox() -> None:
    talk = Talk()
    talk.admit(grant(1), grant(2))
    talk.send(1, flags=wire.LAST)
    talk.batch()
    talk.epoch = wire.Epoch(2, 78)
    talk.hear(wire.ServerHeartbeat(7))
    assert talk.verbs(0) == [wire.JOIN]
    talk.hear(wire.JoinAccepted(0, 3000, 500, ["f"]))
    (claim,) = talk.wait(0)
    assert claim.data[12] == wire.CLAIM
    assert {claim.data[at : at + 32] for at in range(len(claim.data) - 64, len(claim.data), 32)} == {
        effect(1) + attempt(1),
        effect(2) + attempt(2),
    }
    # In the new epoch, everything that is not settled leaves again.
    talk.reply(wire.Assignments(1, 0, 0, 1, [grant(2)]))
    assert talk.batch() == (1, 1)


def test_a_gap_in_the_inbox_is_repaired_by_the_whole_assignment() -> None:
    talk = Talk()
    talk.admit()
    talk.inbox += 1
    assert talk.command(wire.Cancel(effect(1), attempt(1)), grant(2)) == []
    assert wire.ASSIGNMENTS_WANTED in talk.verbs(0)
    assert talk.command(grant(3)) == []
    assert talk.reply(wire.Assignments(talk.inbox, 0, 0, 1, [grant(2), grant(3)])) == [
        machine.Start(grant(2)),
        machine.Start(grant(3)),
    ]
    assert talk.command(grant(4)) == [machine.Start(grant(4))]


def test_events_go_on_in_the_trace_of_their_effect_and_ends_have_none() -> None:
    trace = bytes(range(1, 25)) + b"\1"
    talk = Talk()
    talk.admit(grant(1)._replace(trace=trace), grant(2))
    talk.send(1)
    talk.send(2)
    talk.send(1, flags=wire.LAST)
    talk.machine.accept(wire.COMPLETED, 0, effect(2) + attempt(2), b"")
    found = talk.machine.next_batch()
    assert found is not None
    held = [effect(seq) + attempt(seq) for seq in (1, 2)]
    assert found[1][56:] == b"".join(
        [
            wire.entry(wire.EVENT, wire.HAS_EFFECT, held[0], b"e", trace),
            wire.entry(wire.EVENT, wire.HAS_EFFECT, held[1], b"e"),
            wire.entry(wire.EVENT, wire.HAS_EFFECT | wire.LAST, held[0], b"e", trace),
            wire.entry(wire.COMPLETED, wire.HAS_EFFECT, held[1], b""),
        ]
    )


def test_a_tick_shows_a_gap_at_the_end_of_the_inbox() -> None:
    talk = Talk()
    talk.admit()
    talk.verbs(0)
    talk.inbox += 1
    talk.tick(0)
    assert talk.verbs(0) == [wire.ASSIGNMENTS_WANTED]


def test_an_older_assignment_undoes_nothing() -> None:
    talk = Talk()
    talk.admit(grant(1))
    talk.send(1, flags=wire.LAST)
    talk.batch()
    talk.ack(1)
    # Taken before the end of effect 1 was consumed.
    assert talk.reply(wire.Assignments(5, 0, 0, 1, [grant(1)])) == []


def test_a_cancelled_attempt_stops_and_says_nothing_more() -> None:
    talk = Talk()
    talk.admit(grant(1))
    assert talk.command(wire.Cancel(effect(1), attempt(1))) == [machine.Stop(effect(1), attempt(1))]
    with pytest.raises(Refused) as error:
        talk.send(1)
    assert error.value.code == Refusal.STALE
    assert talk.machine.accept(wire.COMPLETED, 0, effect(1) + attempt(1), b"")
    assert talk.batch() is None


def test_only_a_newer_request_counts_but_in_the_first_assignment_of_an_epoch() -> None:
    talk = Talk()
    talk.admit(grant(1, version=5))
    assert talk.command(wire.Update(effect(1), attempt(1), 5, b"a")) == []
    assert talk.command(wire.Update(effect(1), attempt(1), 6, b"b")) == [machine.NewRequest(effect(1), b"b")]
    talk.epoch, talk.inbox = wire.Epoch(2, 78), 0
    talk.hear(wire.ServerHeartbeat(7))
    # The journal has lost the request of version 6.
    assert talk.admit(wire.Grant(effect(1), attempt(1), 5, 0, False, b"c")) == [machine.NewRequest(effect(1), b"c")]


def test_entries_leave_in_order_and_again_where_a_tick_says_so() -> None:
    talk = Talk()
    talk.admit(grant(1))
    for _ in range(3):
        talk.send(1)
    assert talk.batch() == (1, 3)
    assert talk.batch() is None
    talk.tick(1, resend=True)
    assert talk.batch() == (2, 2)


def test_entries_leave_again_where_ticks_repeat_and_not_before() -> None:
    talk = Talk()
    talk.admit(grant(1))
    talk.send(1)
    talk.batch()
    talk.now += 0.6
    talk.tick(0)
    assert talk.batch() is None
    talk.now += 0.9
    talk.tick(0)
    assert talk.batch() is None
    talk.now += 0.2
    talk.tick(0)
    assert talk.batch() == (1, 1)
    # While entries wait unread in the reducer's sockets, nothing is known to be missing.
    for _ in range(8):
        talk.now += 0.5
        talk.tick(wire.UNREAD)
    assert talk.batch() is None


def test_a_lost_acknowledgement_is_asked_for() -> None:
    talk = Talk()
    talk.admit(grant(1))
    talk.send(1, flags=wire.WANTS_SEQ, token="first")
    talk.send(1, flags=wire.WANTS_SEQ, token="second")
    talk.batch()
    talk.verbs(0)
    assert talk.ack(2, base=1, n2=0) == []
    assert talk.verbs(0) == [wire.OUTCOMES_WANTED]
    news = wire.Acknowledgement(0, 2, {1: (3, 0), 2: (0, 8)}, {})
    talk.hear(wire.RefusalDetails({1: "at the top level"}))
    assert talk.reply(wire.Outcomes(news)) == [
        machine.Settled("first", 3, 0, "at the top level", None, HISTORY, EPOCH),
        machine.Settled("second", 0, 8, "", None, HISTORY, EPOCH),
    ]


def test_a_refusal_for_the_attempt_ends_it() -> None:
    talk = Talk()
    talk.admit(grant(1))
    talk.send(1)
    talk.batch()
    assert talk.ack(1, n1=Refusal.ATTEMPT) == [
        machine.Stop(effect(1), attempt(1)),
        machine.Settled(None, Refusal.ATTEMPT, 0, "", None, HISTORY, EPOCH),
    ]


def test_a_watermark_above_what_was_sent_shows_another_user_of_the_session() -> None:
    talk = Talk()
    talk.admit(grant(1))
    talk.send(1, token="mine")
    talk.batch()
    actions = talk.ack(2)
    assert machine.Settled("mine", Refusal.HISTORY_CHANGED, 0, "", None) in actions
    assert machine.Stop(effect(1), attempt(1)) in actions
    assert talk.machine.session == 0
    assert talk.machine.peer != b"p" * 16
    assert talk.verbs(0) == [wire.HELLO]
    assert talk.losses() == {"session_taken": 1}


def test_another_history_ends_attempts_and_answers_the_outbox() -> None:
    talk = Talk()
    talk.admit(grant(1))
    talk.send(1, token="mine")
    talk.batch()
    talk.history, talk.epoch, talk.session = 6, wire.Epoch(1, 79), 1
    talk.hear(wire.ServerHeartbeat(0))
    talk.wait(0)
    actions = talk.hear(wire.JoinAccepted(0, 3000, 500, ["f"]))
    assert machine.Settled("mine", Refusal.HISTORY_CHANGED, 0, "", None) in actions
    assert machine.Stop(effect(1), attempt(1)) in actions
    # A late frame of the history that was left is dropped.
    talk.hear(wire.Tick(9, 0, 0, 0, False), wire.Header(HISTORY, EPOCH, 9))
    assert talk.machine.phase is Phase.CLAIMING
    assert talk.losses() == {"new_epoch": 1}


def test_frames_of_an_older_epoch_are_dropped() -> None:
    talk = Talk(epoch=wire.Epoch(4, 1))
    talk.admit(grant(1))
    old = wire.Header(HISTORY, wire.Epoch(3, 1), 9)
    assert talk.hear(wire.Commands(2, [wire.Cancel(effect(1), attempt(1))]), old) == []
    assert talk.machine.is_joined
    assert talk.machine.dropped == 1


def test_silence_makes_new_connections_while_attempts_go_on() -> None:
    talk = Talk()
    talk.admit(grant(1))
    talk.verbs(0)
    assert talk.machine.heard_at == talk.now
    talk.verbs(2.9)
    assert wire.HELLO in talk.verbs(0.2)
    assert talk.machine.runs(effect(1) + attempt(1))
    # No answer to the hello for the limit: another DEALER.
    assert machine.Dial(PLACE) in talk.wait(3.1)
    assert talk.losses() == {"silence": 1}


def test_an_entry_that_is_stuck_gets_a_new_push_and_at_the_fourth_time_a_new_session() -> None:
    talk = Talk()
    talk.admit(grant(1))
    talk.send(1)
    seen: list[Any] = []
    for _ in range(4 * 8):
        talk.batch()
        talk.tick(wire.UNREAD)
        seen += talk.wait(0.5)
    assert seen.count(machine.NewPush()) == 3
    assert any(isinstance(one, machine.Send) and one.data[12] == wire.GOODBYE for one in seen)
    assert talk.losses() == {"unread": 1}


def test_a_full_outbox_refuses_events_and_takes_ends() -> None:
    talk = Talk()
    talk.admit(grant(1), grant(2))
    while talk.send(1):
        pass
    assert talk.machine.outbox.count == 8192 + 8 - 512
    assert talk.machine.accept(wire.COMPLETED, 0, effect(2) + attempt(2), b"")
    while talk.batch():
        pass
    assert machine.Space() in talk.ack(1000)


def test_a_stop_hands_everything_back_and_repeats_its_goodbye() -> None:
    talk = Talk()
    talk.admit(grant(1))
    talk.wait(0)
    talk.machine.stop(talk.now)
    assert machine.Stop(effect(1), attempt(1)) in talk.machine.take_actions()
    assert talk.batch() == (1, 1)
    heartbeat = next(one.data for one in talk.wait(0) if isinstance(one, machine.Send))
    assert int.from_bytes(heartbeat[-4:], "little") == 0
    assert [one.data[12] for one in talk.ack(1) if isinstance(one, machine.Send)] == [wire.GOODBYE]
    assert talk.verbs(0.2) == [wire.GOODBYE]
    assert talk.reply(wire.GoodbyeHeard()) == [machine.Finished()]


def test_an_event_that_is_too_large_is_refused_at_once_and_its_attempt_goes_on() -> None:
    talk = Talk()
    talk.admit(grant(1))
    with pytest.raises(Refused, match="the event is too large: 1001 bytes encoded, the limit is 1000"):
        talk.send(1, payload=bytes(1001))
    assert talk.machine.take_actions() == []
    assert talk.send(1, payload=bytes(1000))


def test_the_end_of_the_loop_is_told_once_everything_is_known() -> None:
    talk = Talk()
    talk.admit(grant(1))
    talk.send(1, token="mine")
    talk.batch()
    ended = wire.Ended(4, 0, "done")
    assert machine.Stop(effect(1), attempt(1)) in talk.hear(ended)
    assert talk.command(grant(2)) == []
    assert talk.ack(1)[-1] == machine.LoopEnded(ended)


def test_a_walk_goes_through_all_addresses_and_pauses() -> None:
    talk = Talk(places=("tcp://a:1", "tcp://b:1"))
    talk.wait(0)
    assert talk.reply(wire.NoLeader(500))[0] == machine.Dial("tcp://b:1")
    assert talk.machine.place == "tcp://b:1"
    assert machine.Dial("tcp://a:1") in talk.wait(1.1)
    # The next walk begins after a pause.
    assert talk.verbs(0) == []
    assert talk.verbs(0.6) == [wire.HELLO]


def test_a_redirect_is_followed_once_in_a_walk() -> None:
    talk = Talk(places=("tcp://a:1", "tcp://b:1"))
    talk.wait(0)
    header = wire.Header(HISTORY, wire.NO_EPOCH, 0)
    assert talk.reply(wire.Redirect("tcp://c:1"), header) == [machine.Dial("tcp://c:1")]
    assert talk.reply(wire.Redirect("tcp://d:1"), header) == [machine.Dial("tcp://b:1")]


def test_a_newer_epoch_at_another_address_is_greeted_there() -> None:
    talk = Talk(places=("tcp://a:1", "tcp://b:1"))
    talk.admit(grant(1))
    newer = wire.Header(HISTORY, wire.Epoch(2, 5), 0)
    talk.machine.hear(newer, wire.ServerHeartbeat(3), "tcp://b:1", talk.now)
    assert talk.machine.take_actions() == [machine.Dial("tcp://b:1")]
    assert talk.verbs(0) == [wire.HELLO]
    assert talk.machine.runs(effect(1) + attempt(1))
    assert talk.losses() == {"leader_moved": 1}


def test_a_reducer_that_is_busy_is_asked_again_after_its_time() -> None:
    talk = Talk()
    talk.wait(0)
    assert talk.reply(wire.Busy(wire.Question(wire.HELLO, 0), 1000, "no journal")) == [machine.KeptWaiting("no journal")]
    assert talk.verbs(0.9) == []
    assert talk.verbs(0.2) == [wire.HELLO]


def test_a_reason_to_wait_is_told_once_whatever_its_numbers_are() -> None:
    talk = Talk()
    talk.wait(0)
    told = []
    for reason in (
        "read 1,000 of 2,000 records",
        "read 1,500 of 2,100 records, 30.5%",
        "read 2,000 of 2,100 records, 95%",
        "",
        "no journal",
    ):
        told += talk.reply(wire.Busy(wire.Question(wire.HELLO, 0), 1000, reason))
    assert [one.reason for one in told if isinstance(one, machine.KeptWaiting)] == [
        "read 1,000 of 2,000 records",
        "read 1,500 of 2,100 records, 30.5%",
        "no journal",
    ]
    assert talk.machine.busy_reason == "no journal"


def test_a_refused_peer_is_over() -> None:
    talk = Talk()
    talk.wait(0)
    refused = wire.Refused(wire.Question(wire.HELLO, 0), 1, "slots", "other")
    assert talk.reply(refused) == [machine.PeerRefused(refused)]
    assert talk.machine.is_over


def test_events_of_clients_that_never_left_begin_the_stream_of_the_next_session() -> None:
    talk = Talk()
    talk.admit()
    talk.machine.accept(wire.EVENT, 0, b"", b"e", "left")
    talk.batch()
    talk.machine.accept(wire.EVENT, wire.WANTS_SEQ, b"", b"e", "kept")
    talk.history, talk.session = 6, 1
    talk.hear(wire.ServerHeartbeat(0))
    talk.wait(0)
    settled = [one for one in talk.hear(wire.JoinAccepted(0, 3000, 500, ["f"])) if isinstance(one, machine.Settled)]
    assert settled == [machine.Settled("left", Refusal.HISTORY_CHANGED, 0, "", None)]
    talk.wait(0)
    talk.reply(wire.Assignments(0, 0, 0, 1, []))
    assert talk.batch() == (1, 1)
    assert talk.ack(1, n1=0) == [machine.Settled("kept", 0, 0, "", None, 6, EPOCH)]


def test_a_tick_that_knows_more_outcomes_makes_the_peer_ask_for_them() -> None:
    talk = Talk()
    talk.admit(grant(1))
    talk.send(1)
    talk.batch()
    talk.verbs(0)
    talk.watermark = 1
    talk.tick(1)
    assert talk.verbs(0) == [wire.OUTCOMES_WANTED]


def test_a_redirect_to_an_impossible_address_costs_a_pause() -> None:
    talk = Talk()
    talk.wait(0)
    assert talk.reply(wire.Redirect("nowhere"), wire.Header(HISTORY, wire.NO_EPOCH, 0)) == [machine.Dial("nowhere")]
    talk.machine.could_not_dial()
    assert talk.machine.take_actions() == [machine.Dial(PLACE)]
    assert talk.verbs(0) == []
    assert talk.verbs(0.3) == [wire.HELLO]
