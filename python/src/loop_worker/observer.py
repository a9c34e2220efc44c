"""An observer of the state, or of a section, without sockets and clocks (protocol, section 8). It follows whole states, or deltas.

Seqs of different histories or epochs do not compare. A state is shown if it is newer than the one before in its epoch; in a new
epoch or history the observer waits for a state, and fetches one if none comes within its patience.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from . import wire
from .deltas import Fold, Plain
from .errors import Misfit
from .search import asked_pause

_PATIENCE, _REPEAT = 0.15, 0.3
_WRONG_AGAIN, _PAUSE = 10, 5
_WAITING_MAX, _WAITING_BYTES = 16_384, (8 << 20, 256 << 20)
_PARTS_AHEAD = 8
_LEFT_MAX = 16


class Position(NamedTuple):
    """A seq, with the history and the epoch in which it counts."""

    history: int
    epoch: wire.Epoch
    seq: int


@dataclass
class _Transfer:
    """A state on its way, in parts."""

    id: int = 0
    seq: int = 0
    parts: dict[int, bytes] = field(default_factory=dict)
    last: int | None = None
    asked_at: float = 0.0


@dataclass
class Observer:
    """What is known of the state. `take_states` and `take_questions` after each input."""

    loop: int
    section: str = ""
    interval_ms: int = 0
    fold: Fold | None = None
    """How it folds deltas. Without it, it follows whole states."""

    position: Position | None = None
    refused: wire.Refused | None = None
    divergence: str | None = None
    """What did not fit, so that the state is fetched again. It is for a log, whose writer takes it away."""

    def __post_init__(self) -> None:
        self._left: list[int] = []
        self.history = 0
        self._epoch = wire.NO_EPOCH
        self._newest = 0
        self._behind_since: float | None = 0.0
        self._transfer: _Transfer | None = None
        self._not_before = 0.0
        self._states: list[tuple[Position, bytes | Plain]] = []
        self._questions: list[bytes] = []
        # The state that deltas are folded into, and the first seq at which it was the same.
        self._base: Plain | None = None
        self._first = 0
        self._hash: wire.StateHash | None = None
        self._waiting: deque[wire.Delta] = deque()
        self._wrong_at = float("-inf")

    @property
    def topic(self) -> bytes:
        """What it subscribes to."""
        return wire.states_topic(self.loop, self.section, self.interval_ms, wire.DELTAS if self.fold else wire.STATES)

    @property
    def is_beginning(self) -> bool:
        """Whether it waits for the first part of a state. A part does not say which section it is of."""
        return self.refused is None and self._transfer is not None and not self._transfer.id

    def take_states(self) -> list[tuple[Position, bytes | Plain]]:
        """The states since the last call, in order: as bytes, or folded. Empty bytes are those of the state before."""
        states, self._states = self._states, []
        return states

    def take_questions(self) -> list[bytes]:
        """What is to be sent over DEALER."""
        questions, self._questions = self._questions, []
        return questions

    def has(self, seq: int) -> bool:
        """Whether it shows this seq of the present epoch, or a later one."""
        is_known = self._is_present and (self.fold is None or self._base is not None)
        return is_known and self.position is not None and self.position.seq >= seq

    def wants(self, position: Position, now: float) -> None:
        """Takes note that there is a state at this position."""
        if self._is_at(position.history, position.epoch, now):
            self._know(position.seq, now)

    def introduced(self, history: int) -> None:
        """Follows a history again that was left, because a reducer of it has answered a hello."""
        if history in self._left:
            self._left.remove(history)

    def hear(self, header: wire.Header, message: wire.Message, topic: bytes, now: float) -> None:
        """Takes a frame: of its stream of updates, of the common topic, or an answer over DEALER."""
        if isinstance(message, wire.Refused):
            if message.to.verb == wire.STATE_WANTED:
                self.refused = message
            return
        if isinstance(message, wire.Busy):
            if message.to.verb == wire.STATE_WANTED and self._transfer is not None:
                self._transfer = None
                self._not_before = now + asked_pause(message.milliseconds)
            return
        if not self._is_at(header.history, header.epoch, now):
            return
        if isinstance(message, wire.ServerHeartbeat | wire.Ended):
            # A section may be the same at a newer seq; `unchanged` says so.
            if not self.section:
                self._know(message.seq, now)
        elif isinstance(message, wire.StatePart):
            self._take(message, now)
        elif topic == self.topic:
            if isinstance(message, wire.StateUpdate):
                self._show(message.seq, message.state, now)
            elif isinstance(message, wire.Unchanged):
                self._unchanged(message, now)
            elif isinstance(message, wire.Delta):
                self._wait(message, now)
            elif isinstance(message, wire.StateHash):
                self._compare(message, now)

    def advance(self, now: float, may_begin: bool = True) -> float:
        """Asks for what is missing, and returns when to call again. It may have to wait until others have begun."""
        if self.refused is not None or self._behind_since is None:
            return float("inf")
        transfer = self._transfer
        if transfer is None:
            if not may_begin:
                return float("inf")
            # What is waited for does not come by itself if there is nothing that it could build on.
            is_stuck = self.position is None or self._waiting or (self.fold is not None and self._base is None)
            patience = 0.0 if is_stuck else _PATIENCE + self.interval_ms / 1000
            due = max(self._behind_since + patience, self._not_before)
            if now < due:
                return due
            transfer = self._transfer = _Transfer()
            self._ask(transfer, [0], now)
        elif now - transfer.asked_at >= _REPEAT:
            first = next(number for number in range(len(transfer.parts) + 1) if number not in transfer.parts)
            self._ask(transfer, range(first, first + (_PARTS_AHEAD if transfer.id else 1)), now)
        return transfer.asked_at + _REPEAT

    def _is_at(self, history: int, epoch: wire.Epoch, now: float) -> bool:
        """Whether a frame is of the present epoch. A later one, or another history, begins with a state of its own."""
        if history == self.history and epoch == self._epoch:
            return True
        if history in self._left or (history == self.history and epoch.number < self._epoch.number) or epoch == wire.NO_EPOCH:
            return False
        if history != self.history and self.history:
            self._left = [*self._left[1 - _LEFT_MAX :], self.history]
        self.history, self._epoch, self._newest = history, epoch, 0
        self._base = None
        self._waiting.clear()
        # A question that has no answer yet may be answered by this reducer.
        if self._transfer is not None and self._transfer.id:
            self._transfer = None
        self._behind_since = now
        return True

    @property
    def _is_present(self) -> bool:
        """Whether the state that it shows is of the present epoch."""
        return self.position is not None and self.position[:2] == (self.history, self._epoch)

    def _know(self, seq: int, now: float) -> None:
        self._newest = max(self._newest, seq)
        if not self.has(self._newest) and self._behind_since is None:
            self._behind_since = now

    def _show(self, seq: int, state: bytes, now: float) -> None:
        self._newest = max(self._newest, seq)
        is_again = self.fold is not None and self._base is None
        if self.position is None or not self._is_present or seq > self.position.seq or (is_again and seq == self.position.seq):
            self.position = Position(self.history, self._epoch, seq)
            shown: bytes | Plain = state
            if self.fold is not None:
                try:
                    shown = self._base = self.fold.whole(state)
                    self._first, self._hash = seq, None
                except Misfit as error:
                    # The bytes are shown, so that the reader is told.
                    self._distrust(f"the state at seq {seq} is not of the type: {error}", now)
            self._states.append((self.position, shown))
            self._fold(now)
        self._rest()

    def _rest(self) -> None:
        if self.has(self._newest):
            self._behind_since = None
            self._transfer = None

    def _wait(self, news: wire.Delta, now: float) -> None:
        self._waiting.append(news)
        least, most = _WAITING_BYTES
        received = sum(map(len, self._transfer.parts.values())) if self._transfer is not None else 0
        while len(self._waiting) > _WAITING_MAX or sum(len(one.delta) for one in self._waiting) > min(max(least, received), most):
            self._waiting.popleft()
        self._know(news.seq, now)
        self._fold(now)
        self._rest()

    def _fold(self, now: float) -> None:
        """Shows what the waiting deltas make of the state. One whose base is another state waits for that."""
        while self._waiting and self._base is not None and self.fold is not None and self.position is not None:
            news = self._waiting[0]
            if news.seq > self.position.seq:
                if news.first > self.position.seq or news.through < self._first:
                    return
                try:
                    base = self.fold.delta(news.delta, self._base)
                    base.check(news.hash)
                except Misfit as error:
                    self._waiting.popleft()
                    return self._distrust(f"a delta to the state at seq {news.seq} is wrong: {error}", now)
                self._base, self._first = base, news.seq
                self.position = self.position._replace(seq=news.seq)
                self._states.append((self.position, base))
            self._waiting.popleft()

    def _compare(self, news: wire.StateHash, now: float) -> None:
        """Compares a hash with the state that is shown. It comes again with each tick."""
        if self._base is None or self.position is None or not self._first <= news.seq <= self.position.seq or news == self._hash:
            return
        self._hash = news
        try:
            self._base.check(news.hash)
        except Misfit as error:
            self._distrust(f"the state at seq {news.seq} is wrong: {error}", now)

    def _distrust(self, why: str, now: float) -> None:
        """Fetches the state before anything else is shown; after a pause, if that has not helped."""
        self.divergence = why
        self._base = self._transfer = None
        self._behind_since = now
        self._not_before = max(self._not_before, now + _PAUSE if now - self._wrong_at < _WRONG_AGAIN else now)
        self._wrong_at = now

    def _unchanged(self, news: wire.Unchanged, now: float) -> None:
        if self.has(news.first):
            assert self.position is not None
            if news.through > self.position.seq:
                self.position = self.position._replace(seq=news.through)
                self._states.append((self.position, b""))
                self._fold(now)
            self._newest = max(self._newest, news.through)
            if self.has(self._newest):
                self._behind_since = None
        else:
            self._know(news.first, now)

    def _ask(self, transfer: _Transfer, parts: range | list[int], now: float) -> None:
        transfer.asked_at = now
        for part in parts:
            if part not in transfer.parts and (transfer.last is None or part <= transfer.last):
                interval = self.interval_ms if self.fold is not None else None
                self._questions.append(wire.state_wanted(self.loop, transfer.id, part, self.section, interval))

    def _take(self, news: wire.StatePart, now: float) -> None:
        transfer = self._transfer
        # Of a transfer without a number, only the first part was asked for.
        last = (max(transfer.parts) + _PARTS_AHEAD if transfer.id else 0) if transfer is not None else -1
        if transfer is None or (transfer.id and transfer.id != news.transfer) or news.part > last:
            return
        is_first = not transfer.id
        transfer.id, transfer.seq = news.transfer, news.seq
        transfer.parts[news.part] = news.chunk
        if news.end == 2:
            transfer.last = news.part
        if transfer.last is not None and all(part in transfer.parts for part in range(transfer.last + 1)):
            self._transfer = None
            self._behind_since = now
            if self.fold is not None:
                # If what waits does not build on this one either, another question at once would be too early.
                self._not_before = now + _REPEAT
            self._show(news.seq, b"".join(transfer.parts[part] for part in range(transfer.last + 1)), now)
        elif is_first:
            self._ask(transfer, range(1, 1 + _PARTS_AHEAD), now)
        else:
            self._ask(transfer, [news.part + _PARTS_AHEAD], now)
