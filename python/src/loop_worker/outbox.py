"""A session's numbered entries, from the moment they are accepted until their outcome is known (protocol, section 2).

settled <- sent, outcome unknown -> <- accepted, not sent ->
--------+--------------------------+------------------------
     settled                     sent                   last
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .wire import HAS_EFFECT, NO_EPOCH, Epoch

BATCH_ENTRIES, BATCH_BYTES = 512, 256 << 10


class Entry(NamedTuple):
    """An entry as it travels, and what its sender needs to know of it."""

    data: bytes
    held: bytes
    """The effect and its attempt; empty for a client's event."""
    flags: int
    ends: bool
    """Whether it ends its attempt."""
    token: object
    """Whatever its sender knows it by."""


class Stream(NamedTuple):
    """A sender's stream, which outlives its process."""

    history: int = 0
    epoch: Epoch = NO_EPOCH
    session: int = 0
    """0: it never had one, or has said goodbye."""
    settled: int = 0
    offered: int = 0
    """Numbers up to this one may have left."""
    entries: Sequence[Entry] = ()
    """Those from settled + 1 on."""


class Outbox:
    """The entries whose outcome is not known."""

    def __init__(self) -> None:
        self.settled = 0
        """Every outcome up to this number is known."""
        self.sent = 0
        """The newest number that was handed to the socket since the last going back."""
        self.offered = 0
        """Numbers up to this one may have left."""
        self.last = 0
        """The number of the newest entry."""
        self.byte_count = 0
        self.generation = 0
        """How many sessions were lost; each begins to count from 1."""
        self._entries: list[Entry] = []
        self._before = 0
        # The number of the entry before the first in the list.

    @property
    def is_empty(self) -> bool:
        return self.last == self.settled

    @property
    def count(self) -> int:
        return self.last - self.settled

    def resume(self, stream: Stream) -> None:
        """Takes what an earlier process has left."""
        self.settled = self.sent = self.last = self._before = stream.settled
        self.offered = stream.offered
        for entry in stream.entries:
            self.add(entry)

    def add(self, entry: Entry) -> None:
        """Numbers an entry and keeps it."""
        self._entries.append(entry)
        self.byte_count += len(entry.data)
        self.last += 1

    def take_back(self) -> None:
        """Forgets the newest entry, which has not left."""
        self.byte_count -= len(self._entries.pop().data)
        self.last -= 1

    def next_run(self) -> tuple[int, list[bytes]] | None:
        """The first number and the bytes of the entries that leave next, at most 512 or 256 KiB, or one."""
        if self.sent >= self.last:
            return None
        first = self.sent + 1
        run: list[bytes] = []
        size = 0
        start = first - self._before - 1
        for entry in self._entries[start : start + BATCH_ENTRIES]:
            size += len(entry.data)
            if run and size > BATCH_BYTES:
                break
            run.append(entry.data)
        self.sent += len(run)
        self.offered = max(self.offered, self.sent)
        return first, run

    def go_back(self, number: int) -> None:
        """Everything after a number is sent again."""
        self.sent = min(self.sent, max(number, self.settled))

    def settle(self, watermark: int) -> list[Entry]:
        """Takes out the entries up to the watermark."""
        end = min(watermark, self.last)
        start = self.settled - self._before
        done = self._entries[start : end - self._before]
        for entry in done:
            self.byte_count -= len(entry.data)
        self.settled = end
        self.sent = max(self.sent, end)
        if end == self.last:
            self._entries.clear()
            self._before = end
        elif end - self._before > 1024:
            del self._entries[: end - self._before]
            self._before = end
        return done

    def unsettled(self) -> list[Entry]:
        """The entries whose outcome is not known, in order."""
        return self._entries[self.settled - self._before :]

    def lose_session(self) -> list[Entry]:
        """Begins the stream of the next session with the clients' events that never left, and returns the others."""
        rest = self.unsettled()
        may_have_left = self.offered - self.settled
        lost = [entry for at, entry in enumerate(rest) if at < may_have_left or entry.flags & HAS_EFFECT]
        kept = [entry for at, entry in enumerate(rest) if at >= may_have_left and not entry.flags & HAS_EFFECT]
        self.settled = self.sent = self.offered = self.last = self.byte_count = self._before = 0
        self._entries = []
        self.generation += 1
        for entry in kept:
            self.add(entry)
        return lost
