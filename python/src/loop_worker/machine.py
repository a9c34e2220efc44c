"""A worker's or a sender's side of the protocol, without sockets, clocks, threads or randomness.

Frames and times go in, actions come out, in order. Times are seconds of a steady clock. Effects continue through all phases: only
the reducer's command, another history, or the process's own stop ends them (protocol, sections 5 and 6).

    introducing -- introduction --> joining -- join acceptance --> claiming -- assignments --> joined
         ^                             ^       through the inbox      |                           |
         +-- silence                   +-- a newer epoch, or another history --------------------+
    everything is handed back and known --> leaving -- goodbye heard --> over
"""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from . import wire
from .errors import Refusal, Refused
from .outbox import Entry, Outbox, Stream
from .search import LeaderSearch, asked_pause

_REPEAT = 0.2
_REPORT_AFTER = 64
"""The number of applied numbered messages without a report after which a heartbeat is due."""
_ENTRIES_MAX, _BYTES_MAX = 8192, 32 << 20
"""The outbox's limits; there may be 2 x capacity entries more."""
_RESERVED = 512
"""How many of these entries are for ends of effects."""
LOSSES = ("silence", "no_answer", "new_epoch", "leader_moved", "unread", "session_taken")
"""Why a joined peer loses its reducer, as in docs/health.md."""
EVENT_BYTES_MAX = 512 << 10
"""The largest encoded event, unless the reducer's introduction has another limit."""
_LEFT_MAX = 16
_DETAILS_MAX = 64
_NUMBER = re.compile("[0-9.,]+")
_KEY_REFUSALS = (7, 8, 9)
_OBSERVER_VERBS = (wire.STATE_WANTED, 9, 10, 11)


@dataclass(frozen=True)
class Configuration:
    """What a peer is, for its machine."""

    loop: str
    """The loop's name; "" matches every loop."""
    places: Sequence[str]
    """The addresses at which the reducer may lead, at most five."""
    schema: int = 0
    """The schema of its events; 0 for any."""
    groups: Sequence[str] = ()
    feedbacks: Sequence[str] = ()
    """Lines `name@workers(GROUP)`."""
    capacity: int = 0
    """How many effects it may hold at once."""
    name: str = ""
    """For people."""


class Phase(enum.Enum):
    """Where a peer is on its way. Each phase repeats its message until the next one begins."""

    INTRODUCING = enum.auto()
    JOINING = enum.auto()
    CLAIMING = enum.auto()
    JOINED = enum.auto()
    LEAVING = enum.auto()
    OVER = enum.auto()


# Actions, which the shell performs in order.


class Send(NamedTuple):
    """Send this over DEALER. Everything that matters is repeated."""

    data: bytes


class Connect(NamedTuple):
    """Open a new SUB and a new PUSH at the addresses that the reducer named."""

    introduction: wire.Introduction


class Dial(NamedTuple):
    """Open a new DEALER, to this address."""

    place: str


class NewPush(NamedTuple):
    """Open a new PUSH."""


class Start(NamedTuple):
    """Run an attempt."""

    grant: wire.Grant


class NewRequest(NamedTuple):
    """The request of a running attempt has changed."""

    effect: bytes
    request: bytes


class Stop(NamedTuple):
    """Cancel the body of an attempt, which is over."""

    effect: bytes
    attempt: bytes


class Settled(NamedTuple):
    """The outcome of an entry whose sender waits for it, or of one that was refused."""

    token: object
    code: int
    seq: int
    detail: str
    answer: tuple[int, bytes] | None
    history: int = 0
    epoch: wire.Epoch = wire.NO_EPOCH
    """The history and the epoch in which the seq counts, of an entry that the reducer has settled."""


class Space(NamedTuple):
    """The outbox has space again."""


class Admitted(NamedTuple):
    """The peer has a session in this epoch."""

    feedbacks: list[str]


class KeptWaiting(NamedTuple):
    """The reducer asks to come back later."""

    reason: str


class PeerRefused(NamedTuple):
    """The reducer does not let this peer in. Nothing more happens."""

    refused: wire.Refused


class LoopEnded(NamedTuple):
    """The loop has an outcome, and everything is known. Nothing more happens."""

    ended: wire.Ended


class Finished(NamedTuple):
    """The peer has left. Nothing more happens."""


Last = PeerRefused | LoopEnded | Finished
Action = Send | Connect | Dial | NewPush | Start | NewRequest | Stop | Settled | Space | Admitted | KeptWaiting | Last


@dataclass
class _Running:
    attempt: bytes
    version: int
    trace: bytes


@dataclass
class _Standing:
    """How far the reducer has read, as its ticks say."""

    received: int = 0
    stamp: int = 0
    sent: int = 0


def too_large(size: int, limit: int) -> Refused:
    """The error of an event that is larger than its limit, both in bytes."""
    return Refused(Refusal.TOO_LARGE, f"{size} bytes encoded, the limit is {limit}")


class Machine:
    """The peer. `take_actions` after each input."""

    def __init__(self, configuration: Configuration, peer: bytes, now: float, stream: Stream | None = None) -> None:
        """`peer` has 16 random bytes, which name the inbox. `stream` is what an earlier process has left in an outbox file."""
        self.configuration, self.peer, self.now = configuration, peer, now
        self.phase = Phase.INTRODUCING
        self.loop = wire.loop_id(configuration.loop)
        self.history, self.epoch, self.session = 0, wire.NO_EPOCH, 0
        self.event_bytes_max = EVENT_BYTES_MAX
        self.silence, self.interval = 3.0, 0.5
        self.busy_reason = ""
        self.is_stopping = False
        self.ended: wire.Ended | None = None
        self.awaits_last_state = False
        """Whether an observer on the same connection still waits for the last state."""
        self.kept: int | None = None
        """How far outcomes are on disk; None if the stream ends with the process."""
        self.places_lost = 0
        """How many of its places the shell cannot fill."""
        self.introduced = False
        """Whether a reducer has answered a hello."""
        self.dropped = 0
        """How many frames were not of the present session, epoch or history."""
        self.losses = dict.fromkeys(LOSSES, 0)
        """How often the peer has lost its reducer after it had joined, by the cause."""
        self.search = LeaderSearch(configuration.places, seed=int.from_bytes(peer[:8], "little"))
        self.search.greet(now)
        self.outbox = Outbox()
        self.running: dict[bytes, _Running] = {}
        self.actions: list[Action] = []
        self.heard_at = now
        self._finished: set[bytes] = set()
        self._details: dict[int, str] = {}
        self._progress: dict[bytes, tuple[float, str]] = {}
        self._left: list[int] = []
        self._claims = 0
        self._next = self._limit = self._next_request = 0.0
        self._redials_at = now + self.silence
        self._asked_at: float | None = None
        self._needs_assignments = self._needs_outcomes = False
        self._parts: wire.Assignments | None = None
        self._applied = self._reported = self._echo = 0
        self._progress_at = self._resent_at = now
        self._standing = _Standing()
        self._new_pushes = 0
        self._had_no_space = False
        self._entries_max = _ENTRIES_MAX + 2 * configuration.capacity
        if stream is not None:
            self.history, self.epoch, self.session = stream.history, stream.epoch, stream.session
            self.outbox.resume(stream)
            self.kept = stream.settled

    # What the shell asks.

    @property
    def place(self) -> str:
        """The address that is greeted, or at which the peer has joined."""
        return self.search.current

    @property
    def is_joined(self) -> bool:
        """Whether the peer has joined in this epoch, so that it sends batches and gets commands."""
        return self.phase is Phase.JOINED

    @property
    def is_over(self) -> bool:
        """Whether nothing more happens."""
        return self.phase is Phase.OVER

    @property
    def has_left(self) -> bool:
        """Whether no input is taken any more."""
        return self.phase in (Phase.LEAVING, Phase.OVER)

    @property
    def deadline(self) -> float:
        """When the machine needs its next `advance`, if nothing arrives before."""
        if self.phase is Phase.OVER:
            return float("inf")
        if self.phase is Phase.LEAVING:
            return min(self._next, self._limit)
        if self.phase is Phase.JOINED and (self._needs_assignments or self._needs_outcomes):
            return min(self._next, self._next_request)
        return self._next

    @property
    def settled_for_good(self) -> int:
        """The number up to which every outcome is known, on disk if there is a file."""
        return self.outbox.settled if self.kept is None else min(self.kept, self.outbox.settled)

    def stream_now(self) -> Stream:
        """The stream as a later process continues it. Once everything is known and the goodbye is said, there is no session."""
        if self.has_left and self.outbox.is_empty:
            return Stream()
        offered = self.outbox.last if self.is_joined else self.outbox.offered
        return Stream(self.history, self.epoch, self.session, self.outbox.settled, offered)

    def take_actions(self) -> list[Action]:
        """The actions of all inputs since the last call, in order."""
        actions, self.actions = self.actions, []
        return actions

    # Time.

    def advance(self, now: float) -> None:
        """Advances time: what was not answered is repeated, and silence is noticed."""
        if now > self.now:
            self.now = now
        self._notice_silence()
        if self.is_stopping:
            self._hand_back()
        phase = self.phase
        if phase is Phase.JOINED:
            self._heartbeat_if_due()
            self._request_if_due()
            self._resend_if_stuck()
        elif phase is Phase.INTRODUCING:
            self._greet_if_due()
        elif phase is Phase.JOINING:
            if self.now >= self._next:
                self._asks()
                self._step(self._join_request())
        elif phase is Phase.CLAIMING:
            if self.now >= self._next:
                self._claim()
        elif phase is Phase.LEAVING:
            self._leave()

    @property
    def _redial_interval(self) -> float:
        return max(self.silence, 1.0)

    def _greet_again(self) -> None:
        self._asked_at = None
        self._redials_at = self.now + self._redial_interval
        self.phase, self._next = Phase.INTRODUCING, self.now
        self.search.greet(self.now)

    def _lose(self, cause: str) -> None:
        """Counts that a joined peer loses its reducer. The phase must change next."""
        self.losses[cause] += self.is_joined

    def _notice_silence(self) -> None:
        if self.has_left:
            return
        is_silent = self.now - self.heard_at > self.silence
        is_unanswered = self._asked_at is not None and self.now - self._asked_at > self._redial_interval
        if not is_silent and not is_unanswered:
            return
        if is_silent and self.ended is not None and not self.awaits_last_state:
            self._end_unheard()
        elif self.phase is Phase.INTRODUCING:
            return
        else:
            self._lose("silence" if is_silent else "no_answer")
            if not self.search.is_fixed:
                self._move_on()
            else:
                self.heard_at = self.now
                self._greet_again()

    def _send(self, data: bytes) -> None:
        self.actions.append(Send(data))

    def _step(self, data: bytes) -> None:
        self._next = self.now + _REPEAT
        self._send(data)

    def _asks(self) -> None:
        """Takes note of a question, whose silence counts from its first time on."""
        if self._asked_at is None:
            self._asked_at = self.now

    def _greet_if_due(self) -> None:
        if self.search.is_over(self.now):
            self._move_on()
        if self.search.is_fixed and self.now > self._redials_at:
            self._redials_at = self.now + self._redial_interval
            self.actions.append(Dial(self.search.current))
        if self.now < self._next:
            return
        loop = self.configuration.loop
        self._step(wire.hello(self.loop, loop, self.configuration.schema))
        if self.search.leaves_at is not None:
            self._next = min(self._next, self.search.leaves_at)

    def _claim(self) -> None:
        self._asks()
        self._claims += 1
        held = [effect + one.attempt for effect, one in self.running.items()] + list(self._finished)
        parts = wire.claim(self.loop, self.session, self.epoch, self._claims, held)
        self._next = self.now + _REPEAT * min(len(parts), 5)
        for part in parts:
            self._send(part)

    def _heartbeat_if_due(self) -> None:
        is_timely = self.now >= self._next
        if not is_timely and self._applied - self._reported < _REPORT_AFTER:
            return
        self._next = self.now + self.interval
        self._reported = self._applied
        self._send(
            wire.heartbeat(self.loop, self.session, self.epoch, self._echo, self._applied, self.settled_for_good, self._capacity())
        )
        if is_timely and self._progress:
            self._tell_progress()

    def _tell_progress(self) -> None:
        reports = [(held, *report) for held, report in self._progress.items() if self.runs(held)]
        self._progress.clear()
        size = wire.ITEMS_BYTES_MAX // 256
        for at in range(0, len(reports), size):
            self._send(wire.progress(self.loop, self.session, self.epoch, reports[at : at + size]))

    def _request_if_due(self) -> None:
        if not self._needs_assignments and not self._needs_outcomes:
            self._asked_at = None
            return
        if self.now < self._next_request:
            return
        self._asks()
        self._next_request = self.now + _REPEAT
        if self._needs_assignments:
            self._send(wire.assignments_wanted(self.loop, self.session, self.epoch))
        if self._needs_outcomes:
            self._send(wire.outcomes_wanted(self.loop, self.session, self.settled_for_good))

    def _resend_if_stuck(self) -> None:
        if self.outbox.is_empty or self.now - self._progress_at <= self.silence:
            return
        self._progress_at = self.now
        self.outbox.go_back(self.outbox.settled)
        self._new_pushes += 1
        if self._new_pushes <= 3:
            self.actions.append(NewPush())
            return
        # The reducer ends the session, and answers the next join request with a new one. Until then this one continues: the goodbye
        # may get lost, and no number may be used twice.
        self._new_pushes = 0
        self._send(self._goodbye())
        self._lose("unread")
        self._greet_again()

    def _join_request(self) -> bytes:
        own = self.configuration
        return wire.join(
            self.loop,
            self.peer,
            self.session,
            self.history,
            self.epoch,
            self.outbox.settled,
            own.schema,
            0,
            self._capacity(),
            own.groups,
            own.name.encode()[: wire.NAME_BYTES_MAX].decode(errors="ignore"),
            own.feedbacks,
        )

    def _goodbye(self) -> bytes:
        return wire.goodbye(self.loop, self.session, self.peer, self.history)

    def _capacity(self) -> int:
        """Never more than the ends of effects that the outbox has space for: a peer that cannot send gets no work."""
        if self.is_stopping or self.ended is not None:
            return 0
        return max(0, min(self.configuration.capacity - self.places_lost, self._entries_max - self.outbox.count))

    # Frames.

    def receive_published(self, header: wire.Header, message: wire.Message, place: str, now: float) -> None:
        """Takes a frame that came through the inbox topic at an address."""
        self.now = max(self.now, now)
        if place != self.search.current:
            self.hear(header, message, place, now)
            return
        if self.phase is Phase.INTRODUCING and self._tells_of_leader(header, message):
            self._turn(place, header)
        # While the reducer receives a joined peer's messages, it sends ticks, and after the loop's end that end instead.
        is_sign = self.phase is not Phase.JOINED or type(message) in (wire.Tick, wire.Ended)
        if is_sign and header.history not in self._left:
            self.heard_at = self.now
        self._receive(header, message)

    def receive_reply(self, header: wire.Header, message: wire.Message, now: float) -> None:
        """Takes a frame that came over DEALER."""
        self.now = max(self.now, now)
        self._asked_at = None
        self._receive(header, message)

    def hear(self, header: wire.Header, message: wire.Message, place: str, now: float) -> None:
        """Takes a frame that was published at an address to all subscribers. It may show a new leader, and is of no other use."""
        self.now = max(self.now, now)
        if not self._tells_of_leader(header, message):
            return
        if self.phase is not Phase.INTRODUCING and place == self.search.current:
            self._rejoin()
        else:
            self._turn(place, header)

    def _tells_of_leader(self, header: wire.Header, message: wire.Message) -> bool:
        """Whether a frame shows a leader that is not greeted yet: one of a newer epoch, or the one that fell silent."""
        if type(message) in (wire.Redirect, wire.NoLeader) or self.has_left or header.history in self._left:
            return False
        if header.history == self.history and header.epoch == self.epoch:
            return self.phase is Phase.INTRODUCING
        return self._is_later(header)

    def _turn(self, place: str, header: wire.Header) -> None:
        before = self.search.current
        if self.search.is_fixed and place == before or not self.search.turn(place, header, self.now):
            return
        self._lose("leader_moved")
        self._greet(before, self.now)

    def _move_on(self) -> None:
        """Greets the next address, because the present one is of no use."""
        before = self.search.current
        self._greet(before, self.search.leave(self.now))

    def learn(self, places: Sequence[str], now: float) -> None:
        """Replaces the addresses by those that the names have now."""
        self.now = max(self.now, now)
        before = self.search.current
        if self.search.learn(places, self.has_left or self.phase in (Phase.CLAIMING, Phase.JOINED), self.now):
            self._greet(before, self.now)

    def could_not_dial(self) -> None:
        """Greets the next address, because no socket can be connected to this one."""
        self._move_on()

    def could_not_connect(self) -> None:
        """Greets again, because the addresses that the reducer gave for its other sockets are wrong."""
        if self.phase is Phase.JOINING:
            if not self.search.is_fixed:
                self._move_on()
            else:
                self.phase, self._next = Phase.INTRODUCING, self.now + 1

    def _greet(self, before: str, time: float) -> None:
        if self.search.current != before:
            self.actions.append(Dial(self.search.current))
        self.phase, self._next = Phase.INTRODUCING, time
        self._asked_at = None
        self._redials_at = time + self._redial_interval

    def _is_earlier(self, header: wire.Header) -> bool:
        return header.history == self.history and header.epoch.number < self.epoch.number

    def _is_later(self, header: wire.Header) -> bool:
        """Whether a frame is of another history, of a newer epoch, or of a journal that has lost this epoch."""
        return header.history != self.history or header.epoch.number >= self.epoch.number and header.epoch != self.epoch

    def _is_current(self, header: wire.Header) -> bool:
        """Whether a frame is of this session, history and epoch. A later one makes the peer join again."""
        if header.session == self.session and header.epoch == self.epoch and header.history == self.history:
            return True
        self.dropped += 1
        if self._is_later(header) or not self._is_earlier(header) and header.session > self.session:
            self._rejoin()
        return False

    def _rejoin(self) -> None:
        if self.phase in (Phase.CLAIMING, Phase.JOINED):
            self._lose("new_epoch")
            self.phase, self._next = Phase.JOINING, self.now

    def _receive(self, header: wire.Header, message: wire.Message) -> None:
        if self.phase is Phase.OVER:
            return
        kind = type(message)
        if self.phase is Phase.LEAVING:
            is_ours = header.session == self.session and header.history not in self._left
            if kind is wire.GoodbyeHeard and is_ours:
                self._finish()
            return
        if isinstance(message, wire.Introduction):
            self._introduced(message, header.history)
        elif header.history in self._left:
            self.dropped += 1
        elif isinstance(message, wire.Refused):
            self._refuse(message)
        elif isinstance(message, wire.Busy):
            self._wait(message)
        elif isinstance(message, wire.JoinAccepted):
            self._accepted(header, message)
        elif isinstance(message, wire.Redirect):
            self._lose("leader_moved")
            is_older = header.epoch != wire.NO_EPOCH and self._is_earlier(header)
            before = self.search.current
            if self.search.follow(message.address, header, is_older, self.now):
                self._greet(before, self.now)
            else:
                self._move_on()
        elif isinstance(message, wire.NoLeader):
            self._lose("leader_moved")
            self.search.wait(message.milliseconds)
            self._move_on()
        elif self._is_current(header):
            self._take(message)

    def _take(self, message: wire.Message) -> None:
        if isinstance(message, wire.Commands):
            self._apply(message)
        elif isinstance(message, wire.Acknowledgement):
            if not self._is_foreign(message.watermark):
                if message.base > self.outbox.settled:
                    self._needs_outcomes = True
                else:
                    self._settle(message)
        elif isinstance(message, wire.Tick):
            self._hear_tick(message)
        elif isinstance(message, wire.Outcomes):
            news = message.news
            if not self._is_foreign(news.watermark) and news.base <= self.outbox.settled:
                self._needs_outcomes = False
                self._settle(news)
        elif isinstance(message, wire.Assignments):
            self._assign(message)
        elif isinstance(message, wire.RefusalDetails):
            for number, text in message.texts.items():
                if number > self.outbox.settled and len(self._details) < _DETAILS_MAX:
                    self._details[number] = text
        elif isinstance(message, wire.Ended):
            self._end(message)

    # The way in.

    def _introduced(self, introduction: wire.Introduction, history: int) -> None:
        if self.phase is not Phase.INTRODUCING:
            return
        # A reducer that answers a hello exists. If its history was left because of a late frame of another one, that was wrong.
        if history in self._left:
            self._left.remove(history)
        self.loop = wire.loop_id(introduction.loop)
        self.event_bytes_max = introduction.event_bytes_max
        self.introduced = True
        self.actions.append(Connect(introduction))
        self.heard_at = self.now
        self.phase, self._next = Phase.JOINING, self.now

    def _wait(self, busy: wire.Busy) -> None:
        time = self.now + asked_pause(busy.milliseconds)
        if self.phase is Phase.INTRODUCING and busy.to.verb == wire.HELLO:
            # This reducer waits for its journal. The peer does not leave it for that.
            self.search.greet(time)
            self._redials_at = time + self._redial_interval
        elif self.phase is not Phase.JOINING or busy.to.verb != wire.JOIN:
            return
        self._next = time
        before, self.busy_reason = self.busy_reason, busy.reason or self.busy_reason
        # The numbers in a reason change while a reducer reads its journal.
        if _NUMBER.sub("", before) != _NUMBER.sub("", self.busy_reason):
            self.actions.append(KeptWaiting(self.busy_reason))

    def _refuse(self, refused: wire.Refused) -> None:
        if refused.to.verb in _OBSERVER_VERBS:
            return
        is_early = self.phase in (Phase.INTRODUCING, Phase.JOINING)
        if is_early or refused.what in _KEY_REFUSALS:
            self.actions.append(PeerRefused(refused))
            self.phase = Phase.OVER

    def _accepted(self, header: wire.Header, news: wire.JoinAccepted) -> None:
        is_same = header.history == self.history and header.session == self.session
        # Without an introduction there may be no PUSH at this reducer yet.
        if self._is_earlier(header) or self.phase is Phase.INTRODUCING:
            self.dropped += 1
            return
        if is_same and header.epoch == self.epoch:
            if self.phase in (Phase.CLAIMING, Phase.JOINED):
                return
        elif not is_same and self.session:
            if header.history == self.history and header.session < self.session:
                self.dropped += 1
                return
            if header.history != self.history:
                self._leave_history(self.history)
            self._lose_session()
            if self.is_over:
                return
        if header.epoch != self.epoch:
            # The reducer reports the end again if the loop has ended.
            self.ended = None
            self._echo = 0
        self.history, self.epoch, self.session = header.history, header.epoch, header.session
        self._applied = self._reported = 0
        self._needs_assignments = False
        self._parts = None
        self.silence = min(max(news.silence_ms, 20), 3_600_000) / 1000
        self.interval = min(max(news.tick_ms, 5), 10_000) / 1000
        self.busy_reason = ""
        self.search.found()
        if self._is_foreign(news.watermark):
            return
        self._lose("new_epoch")
        self._standing = _Standing()
        self.outbox.go_back(self.outbox.settled)
        self._progress_at = self.now
        if news.watermark > self.outbox.settled:
            self._needs_outcomes = True
        self._asked_at = None
        self.phase, self._next = Phase.CLAIMING, self.now
        self.actions.append(Admitted(news.feedbacks))

    def _leave_history(self, history: int) -> None:
        if history and history not in self._left:
            self._left = [*self._left[1 - _LEFT_MAX :], history]

    # The inbox.

    def _apply(self, news: wire.Commands) -> None:
        if news.number <= self._applied:
            return
        if self.phase is not Phase.JOINED or news.number > self._applied + 1 or self._needs_assignments:
            if self.phase is Phase.JOINED:
                self._needs_assignments = True
            return
        self._applied = news.number
        for command in news.commands:
            if isinstance(command, wire.Grant):
                self._begin(command)
            elif isinstance(command, wire.Update):
                self._update(command)
            else:
                self._cancel(command.effect, command.attempt)

    def _assign(self, part: wire.Assignments) -> None:
        if self.phase not in (Phase.CLAIMING, Phase.JOINED):
            return
        whole = self._parts
        if part.part == 0:
            whole = part
        elif whole is None or part[:4] != (whole.number, whole.watermark, whole.part + 1, whole.parts):
            return
        else:
            whole = part._replace(grants=whole.grants + part.grants)
        self._parts = whole
        if part.part + 1 < part.parts:
            return
        self._parts = None
        # An assignment that is older than what this peer already knows must not undo it.
        is_unaware = whole.watermark < self.outbox.settled
        if whole.number < self._applied or is_unaware:
            if self.phase is Phase.JOINED:
                self._needs_assignments = True
            elif is_unaware:
                # Only a join request shows the reducer which acknowledged records its journal may have lost.
                self.phase, self._next = Phase.JOINING, self.now
            return
        self._applied = whole.number
        self._apply_assignment(whole.grants, is_first=self.phase is Phase.CLAIMING)
        self._needs_assignments = False
        if self.phase is Phase.CLAIMING:
            self.phase, self._next = Phase.JOINED, self.now

    def _apply_assignment(self, grants: Sequence[wire.Grant], is_first: bool) -> None:
        wanted = {grant.effect: grant.attempt for grant in grants}
        for effect, one in list(self.running.items()):
            if wanted.get(effect) != one.attempt:
                self._cancel(effect, one.attempt)
        for grant in grants:
            running = self.running.get(grant.effect)
            if running is None:
                self._begin(grant)
                continue
            # An epoch's first assignment follows the journal: a newer request may come from records that the journal has lost.
            if is_first and running.version > grant.version:
                running.version = 0
            self._update(wire.Update(grant.effect, grant.attempt, grant.version, grant.request))

    def _begin(self, grant: wire.Grant) -> None:
        if self.ended is not None or grant.effect + grant.attempt in self._finished:
            return
        running = self.running.get(grant.effect)
        if running is not None:
            if wire.attempt_order(running.attempt) >= wire.attempt_order(grant.attempt):
                return
            self._cancel(grant.effect, running.attempt)
        self.running[grant.effect] = _Running(grant.attempt, grant.version, grant.trace)
        if not self.is_stopping:
            self.actions.append(Start(grant))

    def _update(self, news: wire.Update) -> None:
        running = self.running.get(news.effect)
        if running is not None and running.attempt == news.attempt and news.version > running.version:
            running.version = news.version
            self.actions.append(NewRequest(news.effect, news.request))

    def _cancel(self, effect: bytes, through: bytes) -> None:
        running = self.running.get(effect)
        if running is not None and wire.attempt_order(running.attempt) <= wire.attempt_order(through):
            del self.running[effect]
            self.actions.append(Stop(effect, running.attempt))

    def _hear_tick(self, tick: wire.Tick) -> None:
        if self._is_foreign(tick.watermark):
            return
        self._echo = max(self._echo, tick.stamp)
        if tick.number > self._applied and self.phase is Phase.JOINED:
            self._needs_assignments = True
        if tick.watermark > self.outbox.settled:
            self._needs_outcomes = True
        sent, seen = self.outbox.sent, self._standing
        is_missing = False
        if tick.received == seen.received < seen.sent and tick.stamp >= seen.stamp:
            is_missing = tick.stamp - seen.stamp >= 2 * self.interval * 1e9
        else:
            self._standing = _Standing(tick.received, tick.stamp, sent)
        is_quiet = self.now - max(self._progress_at, self._resent_at) > self.interval
        if tick.received < sent and (tick.resend or is_missing and is_quiet):
            self.outbox.go_back(tick.received)
            self._standing = _Standing()
            self._resent_at = self.now

    # Outcomes.

    def _is_foreign(self, watermark: int) -> bool:
        """Whether another process uses the numbers of this session. Then this peer leaves it, and joins as another one."""
        if watermark <= self.outbox.offered:
            return False
        self._lose("session_taken")
        self._lose_session()
        self.peer = wire.fnv1a(self.peer + repr(self.now).encode()).to_bytes(8, "little") + self.peer[:8]
        if not self.is_over:
            self.phase, self._next = Phase.INTRODUCING, self.now
        return True

    def _settle(self, news: wire.Acknowledgement) -> None:
        if news.watermark <= self.outbox.settled:
            return
        self._progress_at = self.now
        self._new_pushes = 0
        number = self.outbox.settled
        notable, finished = news.notable, self._finished
        for entry in self.outbox.settle(news.watermark):
            number += 1
            if entry.ends:
                finished.discard(entry.held)
            code, seq = notable.get(number, (0, 0)) if notable else (0, 0)
            if code:
                self._refused(entry, code)
            if code or entry.flags & wire.WANTS_SEQ:
                detail = self._details.pop(number, "")
                answer = news.answers.get(number)
                self.actions.append(Settled(entry.token, code, seq, detail, answer, self.history, self.epoch))
        if self._details:
            self._details = {one: text for one, text in self._details.items() if one > self.outbox.settled}
        self._after_settling()

    def _refused(self, entry: Entry, code: int) -> None:
        """A refusal for the attempt ends it here."""
        if code in (Refusal.STALE, Refusal.ATTEMPT, Refusal.ENDED) and self.runs(entry.held):
            self._cancel(entry.held[:16], entry.held[16:])

    def _after_settling(self) -> None:
        if self._had_no_space and self._has_space(0):
            self._had_no_space = False
            self.actions.append(Space())
        self._end_if_empty()
        self._finish_if_empty()

    def _lose_session(self) -> None:
        """Drops the session, which is gone, with its attempts. What may have left is answered `historyChanged`."""
        self._needs_outcomes = False
        self._new_pushes = 0
        if self.kept is not None:
            self.kept = 0
        for entry in self.outbox.lose_session():
            self.actions.append(Settled(entry.token, Refusal.HISTORY_CHANGED, 0, "", None))
        for effect, one in self.running.items():
            self.actions.append(Stop(effect, one.attempt))
        self.running.clear()
        self._finished.clear()
        self._details.clear()
        self.session, self.epoch = 0, wire.NO_EPOCH
        self._after_settling()

    def _end(self, ended: wire.Ended) -> None:
        if self.ended is not None:
            return
        for effect, one in list(self.running.items()):
            self._cancel(effect, one.attempt)
        self.ended = ended
        self._needs_outcomes = not self.outbox.is_empty
        self._end_if_empty()

    def last_state_is_known(self) -> None:
        """Leaves a loop that has ended, because no observer waits for its last state any more."""
        self.awaits_last_state = False
        self._end_if_empty()

    def _end_if_empty(self) -> None:
        if self.ended is None or not self.outbox.is_empty or self.awaits_last_state or self.is_over:
            return
        if self.session:
            self._send(self._goodbye())
        self.actions.append(LoopEnded(self.ended))
        self.phase = Phase.OVER

    def _end_unheard(self) -> None:
        """Gives up the outcomes that are not known, because the reducer has ended its loop and is gone."""
        offered = self.outbox.offered
        number = self.outbox.settled
        for entry in self.outbox.settle(self.outbox.last):
            number += 1
            code = Refusal.ENDED if number > offered else Refusal.HISTORY_CHANGED
            self.actions.append(Settled(entry.token, code, 0, "", None))
        self._end_if_empty()

    # From the process.

    def runs(self, held: bytes) -> bool:
        """Whether this attempt of an effect runs here."""
        return self._run_of(held) is not None

    def _run_of(self, held: bytes) -> _Running | None:
        running = self.running.get(held[:16])
        return running if running is not None and running.attempt == held[16:] else None

    def _has_space(self, size: int) -> bool:
        return self.outbox.count < self._entries_max - _RESERVED and self.outbox.byte_count + size < _BYTES_MAX

    def accept(self, kind: int, flags: int, held: bytes, payload: bytes, token: object = None) -> bool:
        """Takes an entry, and gives it its number.

        `held` is an effect and its attempt, or empty. Returns false if the outbox has no space; `Space` follows. Raises `Refused`.
        """
        running = self._run_of(held)
        if kind == wire.EVENT:
            if self.has_left or self.ended is not None:
                raise Refused(Refusal.ENDED)
            if held and running is None:
                raise Refused(Refusal.STALE)
            if len(payload) > self.event_bytes_max:
                raise too_large(len(payload), self.event_bytes_max)
            if not self._has_space(len(payload)):
                self._had_no_space = True
                return False
        elif running is None:
            return True
        if self.outbox.is_empty:
            self._progress_at = self.now
        # What an effect sends goes on in the trace of its grant.
        trace = running.trace if running is not None and kind == wire.EVENT else b""
        ends = kind != wire.EVENT or flags & wire.LAST != 0
        if ends:
            del self.running[held[:16]]
            self._finished.add(held)
        flags |= wire.HAS_EFFECT if held else 0
        self.outbox.add(Entry(wire.entry(kind, flags, held, payload, trace), held, flags, ends, token))
        return True

    def report(self, held: bytes, fraction: float, text: str) -> None:
        """Takes note of an attempt's progress. The newest report leaves with the next heartbeat."""
        text = text.encode(errors="backslashreplace")[: wire.NAME_BYTES_MAX].decode(errors="ignore")
        # In this order, what is no number counts as 0.
        self._progress[held] = (min(max(0.0, fraction), 1.0), text)

    def stop(self, now: float) -> None:
        """Hands everything back, then says goodbye. `Finished` follows when all outcomes are known."""
        self.now = max(self.now, now)
        if self.is_stopping or self.has_left:
            return
        self.is_stopping = True
        for effect, one in self.running.items():
            self.actions.append(Stop(effect, one.attempt))
        self._hand_back()
        if self.phase is Phase.JOINED:
            self._next = self.now
        self._finish_if_empty()

    def _hand_back(self) -> None:
        for effect, one in list(self.running.items()):
            self.accept(wire.RELEASED, 0, effect + one.attempt, b"")

    def _finish_if_empty(self) -> None:
        if not self.is_stopping or not self.outbox.is_empty or self.running or self.has_left:
            return
        if not self.session:
            self._finish()
            return
        self.phase, self._next = Phase.LEAVING, self.now
        self._limit = self.now + min(self.silence, 2.0)
        self._leave()

    def _leave(self) -> None:
        if self.now >= self._limit:
            self._finish()
        elif self.now >= self._next:
            self._step(self._goodbye())

    def _finish(self) -> None:
        self.actions.append(Finished())
        self.phase = Phase.OVER

    # To the socket.

    def next_batch(self) -> tuple[int, bytes] | None:
        """The number of the first entry, and the next batch to push; None if all have left."""
        if self.phase is not Phase.JOINED:
            return None
        run = self.outbox.next_run()
        if run is None:
            return None
        first, entries = run
        data = wire.batch(self.loop, self.history, self.session, self.settled_for_good, self._applied, first, entries)
        return first, data

    def could_not_push(self, first: int) -> None:
        """Takes back a batch that the socket did not take."""
        self.outbox.go_back(first - 1)
