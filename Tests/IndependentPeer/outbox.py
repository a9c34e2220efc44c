"""A session's numbered stream at its sender: sections 2 and 10 of the protocol."""

import time

from loop_conform import wire

BATCH_ENTRIES, BATCH_BYTES = 512, 256 << 10
HISTORY_CHANGED = 6


class Outbox:
    """Entries from their number to their outcome.

    An entry leaves when its outcome is known. What was refused is in the `notable` outcomes, and only an acknowledgement whose
    base this sender knows settles anything.
    """

    def __init__(self, batch_entries: int = BATCH_ENTRIES):
        self.batch_entries = batch_entries
        self.entries: dict[int, wire.Entry] = {}
        self.settled = 0  # every outcome up to it is known
        self.left = 0  # every entry up to it was sent at least once
        self.newest = 0  # the newest number that was given
        self.watermark = 0  # the newest that the reducer has told
        self.next = 1  # the next to be sent
        self.suspect = None  # of the first of ticks with one `received`: that, its stamp, and what had left when it came
        self.moved = 0.0  # when something was settled, or went back, or the oldest entry came

    def add(self, entry: wire.Entry) -> int:
        if not self.entries:
            self.moved = time.monotonic()
        self.newest += 1
        self.entries[self.newest] = entry
        return self.newest

    def batches(self):
        """First number and entries of what is to be sent now."""
        while self.next <= self.newest:
            first, some, size = self.next, [], 0
            while self.next <= self.newest and len(some) < self.batch_entries:
                entry = self.entries[self.next]
                size += 38 + len(entry.payload)
                if some and size > BATCH_BYTES:
                    break
                some.append(entry)
                self.next += 1
            yield first, some

    def returned(self, first: int) -> None:
        """A batch could not leave: the socket is full."""
        self.next = first

    def sent(self, through: int) -> None:
        self.left = max(self.left, through)

    def resend(self, after: int) -> None:
        """Everything after a number goes out again."""
        self.next = min(self.next, max(after, self.settled) + 1)
        self.suspect = None
        self.moved = time.monotonic()

    def is_foreign(self, watermark: int) -> bool:
        """Whether a watermark shows that another process uses the session's numbers."""
        return watermark > self.left

    def settle(self, news) -> list[tuple[int, wire.Entry, int, int]] | None:
        """The outcomes that an acknowledgement brings: number, entry, code, seq. None where one before it was lost."""
        self.watermark = max(self.watermark, news.watermark)
        if news.base > self.settled:
            return None
        notable = {one.number: (one.code, one.seq) for one in news.notable}
        outcomes = []
        for number in range(self.settled + 1, news.watermark + 1):
            code, seq = notable.get(number, (0, 0))
            outcomes.append((number, self.entries.pop(number), code, seq))
        if outcomes:
            self.settled = news.watermark
            self.moved = time.monotonic()
        self.next = max(self.next, self.settled + 1)
        return outcomes

    def tick(self, tick: wire.Tick, interval_ms: int) -> None:
        """Goes back to what is missing: on request, or where a tick repeats (section 2, "sending again")."""
        self.watermark = max(self.watermark, tick.watermark)
        gone = self.next - 1
        repeats = False
        if self.suspect and self.suspect[0] == tick.received < self.suspect[2] and tick.stamp >= self.suspect[1]:
            repeats = tick.stamp - self.suspect[1] >= 2 * interval_ms * 1_000_000
        else:
            self.suspect = (tick.received, tick.stamp, gone)
        is_quiet = time.monotonic() - self.moved > interval_ms / 1000
        if tick.received < gone and (tick.resend or (repeats and is_quiet)):
            self.resend(tick.received)

    def abandon(self) -> list[tuple[int, wire.Entry, int, int]]:
        """The session is gone: what may have left is answered `historyChanged`, the rest begins the next stream."""
        lost = [(number, entry, HISTORY_CHANGED, 0) for number, entry in self.entries.items() if number <= self.left]
        kept = [entry for number, entry in self.entries.items() if number > self.left and not entry.flags & wire.HAS_EFFECT]
        self.__init__(self.batch_entries)
        for entry in kept:
            self.add(entry)
        return lost
