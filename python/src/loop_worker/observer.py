"""An observer of the state, or of a section, without sockets and clocks (protocol, section 8). It follows whole states.

Seqs of different histories or epochs do not compare. A state is shown if it is newer than the one before in its epoch; in a new
epoch or history the observer waits for a state, and fetches one if none comes within its patience.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from . import wire
from .search import asked_pause

_PATIENCE, _REPEAT = 0.15, 0.3
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

    position: Position | None = None
    refused: wire.Refused | None = None

    def __post_init__(self) -> None:
        self._left: list[int] = []
        self.history = 0
        self._epoch = wire.NO_EPOCH
        self._newest = 0
        self._behind_since: float | None = 0.0
        self._transfer: _Transfer | None = None
        self._not_before = 0.0
        self._states: list[tuple[Position, bytes]] = []
        self._questions: list[bytes] = []

    @property
    def topic(self) -> bytes:
        """What it subscribes to."""
        return wire.states_topic(self.loop, self.section, self.interval_ms)

    @property
    def is_beginning(self) -> bool:
        """Whether it waits for the first part of a state. A part does not say which section it is of."""
        return self.refused is None and self._transfer is not None and not self._transfer.id

    def take_states(self) -> list[tuple[Position, bytes]]:
        """The states since the last call, in order."""
        states, self._states = self._states, []
        return states

    def take_questions(self) -> list[bytes]:
        """What is to be sent over DEALER."""
        questions, self._questions = self._questions, []
        return questions

    def has(self, seq: int) -> bool:
        """Whether it shows this seq of the present epoch, or a later one."""
        return self._is_present and self.position is not None and self.position.seq >= seq

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
                self._show(message.seq, message.state)
            elif isinstance(message, wire.Unchanged):
                self._unchanged(message, now)

    def advance(self, now: float, may_begin: bool = True) -> float:
        """Asks for what is missing, and returns when to call again. It may have to wait until others have begun."""
        if self.refused is not None or self._behind_since is None:
            return float("inf")
        transfer = self._transfer
        if transfer is None:
            if not may_begin:
                return float("inf")
            patience = _PATIENCE + self.interval_ms / 1000 if self.position is not None else 0.0
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

    def _show(self, seq: int, state: bytes) -> None:
        self._newest = max(self._newest, seq)
        if self.position is None or not self._is_present or seq > self.position.seq:
            self.position = Position(self.history, self._epoch, seq)
            self._states.append((self.position, state))
        if self.has(self._newest):
            self._behind_since = None
            self._transfer = None

    def _unchanged(self, news: wire.Unchanged, now: float) -> None:
        if self.has(news.first):
            assert self.position is not None
            if news.through > self.position.seq:
                self.position = self.position._replace(seq=news.through)
                self._states.append((self.position, b""))
            self._newest = max(self._newest, news.through)
            if self.has(self._newest):
                self._behind_since = None
        else:
            self._know(news.first, now)

    def _ask(self, transfer: _Transfer, parts: range | list[int], now: float) -> None:
        transfer.asked_at = now
        for part in parts:
            if part not in transfer.parts and (transfer.last is None or part <= transfer.last):
                self._questions.append(wire.state_wanted(self.loop, transfer.id, part, self.section))

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
            self._show(news.seq, b"".join(transfer.parts[part] for part in range(transfer.last + 1)))
        elif is_first:
            self._ask(transfer, range(1, 1 + _PARTS_AHEAD), now)
        else:
            self._ask(transfer, [news.part + _PARTS_AHEAD], now)
