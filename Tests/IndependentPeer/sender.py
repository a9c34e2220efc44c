"""An honest sender, whose network is not: its batches can be lost, doubled and late, and each event is applied once."""

import random
import time

from loop_conform import wire
from peer import SERVE, Peer

REFUSAL = {1: "stale", 2: "attempt", 3: "undecodable", 4: "tooLarge", 5: "ended", 6: "historyChanged", 9: "quarantined"}


class Sender(Peer):
    """Sends events, a limited number at a time, and hears what becomes of each.

    `roughness` is the share of batches that are lost, of those that are sent twice, and of those that are sent late.
    """

    def __init__(self, address, payloads, at_once: int = 64, roughness: float = 0, seed: int = 0, pause: float = 0, asks: bool = False, **names):
        super().__init__(address, **names)
        self.payloads = iter(payloads)
        self.at_once, self.pause, self.asks = at_once, pause, asks
        self.answers: list[tuple[int, bytes]] = []
        self.roughness, self.dice = roughness, random.Random(seed)
        if roughness:
            self.outbox.batch_entries = 4
        self.late: list[bytes] = []
        self.is_dry = False
        self.next_event = 0.0
        self.sent_at: dict[int, float] = {}
        self.round_trips: list[float] = []
        self.applied_events = 0
        self.refused: dict[str, int] = {}
        self.lost = self.doubled = 0
        self.newest_seq = 0

    def work(self, now: float) -> None:
        while not self.is_dry and len(self.outbox.entries) < self.at_once and now >= self.next_event:
            payload = next(self.payloads, None)
            if payload is None:
                self.is_dry = True
                return
            self.sent_at[self.post(payload, self.asks)] = now
            if self.pause:
                self.next_event = now + self.pause

    def outcome(self, number: int, entry: wire.Entry, code: int, seq: int) -> None:
        began = self.sent_at.pop(number, None)
        if began is not None:
            self.round_trips.append(time.monotonic() - began)
        if code == 0:
            self.applied_events += 1
            self.newest_seq = max(self.newest_seq, seq)
        else:
            name = REFUSAL.get(code, f"code {code}")
            self.refused[name] = self.refused.get(name, 0) + 1

    def answered(self, answer: wire.Answer) -> None:
        # One that comes again belongs to an entry that is settled.
        if answer.number in self.sent_at:
            self.answers.append((answer.code, answer.value))

    def drop_session(self) -> None:
        super().drop_session()
        self.sent_at.clear()

    def send_batch(self, data: bytes) -> bool:
        while self.late and self.dice.random() < 0.5:
            super().send_batch(self.late.pop(self.dice.randrange(len(self.late))))
        fate = self.dice.random() / self.roughness if self.roughness else 9
        if fate < 1:
            self.lost += 1
            return True
        if fate < 2:
            self.late.append(data)
            return True
        if fate < 3:
            self.doubled += 1
            super().send_batch(data)
        return super().send_batch(data)

    def run(self, seconds: float) -> bool:
        """Until every event has its outcome; false where the time was too short."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            longest = 0.05
            if self.pause and not self.is_dry:
                longest = min(max(self.next_event - time.monotonic(), 0), longest)
            self.turn(longest)
            if self.phase == SERVE and self.is_dry and not self.outbox.entries:
                return True
        return False

    def report(self) -> dict:
        return {
            "applied": self.applied_events, "refused": self.refused, "newest": self.newest_seq, "session": self.session,
            "lost": self.lost, "doubled": self.doubled, "dropped": self.dropped, "epoch": self.epoch.number,
        }  # fmt: skip
