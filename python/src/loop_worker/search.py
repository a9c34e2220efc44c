"""A peer's walk through the addresses that it was given, to find the reducer that leads (protocol, section 5)."""

from __future__ import annotations

import random
from collections.abc import Sequence

from .wire import NO_EPOCH, Epoch, Header

PLACES_MAX = 5
_PATIENCE = 1.0
_PAUSE_MIN, _PAUSE_MAX = 0.25, 2.0


def asked_pause(milliseconds: int) -> float:
    """How long a peer waits, in seconds, after it was asked to come back later: 100 ms to 60 s."""
    return min(max(milliseconds, 100), 60_000) / 1000


class LeaderSearch:
    """Which address is greeted, and until when.

    With one address and no redirect there is nothing to decide: that address is greeted for ever.
    """

    def __init__(self, places: Sequence[str], seed: int) -> None:
        self.places = list(places[:PLACES_MAX])
        self.current = self.places[0]
        self.leaves_at: float | None = None
        self._rest = self.places[1:]
        self._has_followed = False
        self._walks = 0
        self._retry_after: float | None = None
        self._heard: tuple[int, Epoch] | None = None
        self._random = random.Random(seed)

    @property
    def is_fixed(self) -> bool:
        """Whether there is no other address to try."""
        return len(self.places) == 1 and self.current == self.places[0]

    def is_over(self, now: float) -> bool:
        """Whether the address has had its time."""
        return self.leaves_at is not None and now >= self.leaves_at

    def greet(self, time: float) -> None:
        """Greets the present address from this time on."""
        self.leaves_at = None if self.is_fixed else time + _PATIENCE

    def found(self) -> None:
        """Ends the search, because the peer is admitted. The next walk ends with this address."""
        self._has_followed, self._walks, self._retry_after, self._heard, self.leaves_at = False, 0, None, None, None
        self._begin()

    def leave(self, now: float) -> float:
        """Leaves the present address for the next one, and returns when that is to be greeted."""
        time = now
        if not self._rest:
            self._walks += 1
            pause = min(_PAUSE_MIN * 2 ** min(self._walks - 1, 3), _PAUSE_MAX)
            time = now + max(pause * (0.5 + self._random.random() / 2), self._retry_after or 0)
            self._has_followed, self._retry_after = False, None
            self._rest = list(self.places)
        self.current = self._rest.pop(0)
        self.greet(time)
        return time

    def wait(self, milliseconds: int) -> None:
        """Takes note that a standby knows no leader."""
        pause = asked_pause(milliseconds)
        self._retry_after = pause if self._retry_after is None else min(self._retry_after, pause)

    def follow(self, address: str, header: Header, is_older: bool, now: float) -> bool:
        """Follows the first redirect of a walk, unless it may be older than what is known."""
        if self._heard is not None:
            history, epoch = self._heard
            if header.epoch == NO_EPOCH or header.history == history and header.epoch.number < epoch.number:
                return False
        if self._has_followed or is_older or not address or address == self.current:
            return False
        self._has_followed = True
        self._go(address, now)
        return True

    def turn(self, place: str, header: Header, now: float) -> bool:
        """Greets the address of a leader next, unless another address has a newer epoch."""
        if self._heard is not None:
            history, epoch = self._heard
            if header.history == history and header.epoch.number < epoch.number:
                return False
        self._heard = header.history, header.epoch
        self._go(place, now)
        return True

    def learn(self, places: Sequence[str], stays: bool, now: float) -> bool:
        """Replaces the addresses, after names were looked up. Returns whether another address than before is greeted next."""
        new = list(places[:PLACES_MAX])
        if not new or new == self.places:
            return False
        stays = stays or self.current in new or self.current not in self.places
        self.places = new
        if not stays:
            self.current = new[0]
        self._begin()
        if not stays:
            self.greet(now)
        return not stays

    def _begin(self) -> None:
        """Begins a walk with the address after the present one, which comes last."""
        after = self.places.index(self.current) + 1 if self.current in self.places else 0
        self._rest = self.places[after:] + self.places[:after]

    def _go(self, place: str, now: float) -> None:
        self.current = place
        self._rest = [one for one in self._rest if one != place]
        self.greet(now)
