"""An honest observer of whole states: it notices every gap, repairs it, and compares hashes."""

import time

import cbor2
import zmq

from loop_conform import wire
from address import Address
from peer import PeerRefused

REPEAT, PATIENCE, AHEAD = 0.3, 0.15, 8


class WrongState(Exception):
    """The reducer says that the state at this seq has another hash."""


class Transfer:
    """The parts of one encoded state, by number."""

    def __init__(self):
        self.name = 0
        self.seq = 0
        self.parts: dict[int, bytes] = {}
        self.last: int | None = None
        self.asked = 0.0

    def add(self, news: wire.StatePart) -> bytes | None:
        """The whole state, once all is there. A part of another transfer begins that one."""
        if news.transfer != self.name:
            if self.parts and news.part != 0:
                return None
            self.__init__()
            self.name, self.seq = news.transfer, news.seq
        self.parts[news.part] = news.chunk
        if news.end == 2:
            self.last = news.part
        if self.last is None or len(self.parts) <= self.last:
            return None
        return b"".join(self.parts[part] for part in range(self.last + 1))

    def missing(self) -> list[int]:
        """Up to eight parts that are wanted next."""
        end = self.last + 1 if self.last is not None else len(self.parts) + AHEAD
        return [part for part in range(end) if part not in self.parts][:AHEAD]


class Observer:
    """Follows the state of a loop. `show` hears each newer state once."""

    def __init__(self, address: Address, loop: str = "", interval: int = 0):
        self.address, self.interval = address, interval
        self.context = zmq.Context()
        self.dealer = address.socket(self.context, zmq.DEALER)
        self.subscriber = None
        self.wanted_loop = loop
        self.loop = wire.loop_id(loop)
        self.history, self.epoch = 0, wire.Epoch(0, 0)
        self.left_histories: set[int] = set()
        self.seq: int | None = None
        self.state = b""
        self.known = -1  # the newest seq that the reducer has told
        self.known_at = 0.0
        self.transfer: Transfer | None = None
        self.next_hello = 0.0
        self.not_before = 0.0
        self.hashes: dict[int, int] = {}
        self.compared = self.fetched = self.updated = self.transitions = self.dropped = 0
        self.end: wire.Ended | None = None
        self.wanted: tuple[int, wire.Epoch, int] | None = None  # history, epoch and seq of the state that is current
        self.heard = time.monotonic()

    def show(self) -> None:
        """A newer state is there."""

    def run(self, until, seconds: float) -> bool:
        """Follows until something holds; false where the time was too short."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if until(self):
                return True
            self.turn()
        return False

    def run_until_current(self, seconds: float) -> bool:
        """Follows to a state that is not older than this call (section 8): the reducer's newest, in its history and epoch."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.wanted = None
            self.tell(wire.StatusWanted())
            if not self.run(lambda one: one.wanted, min(0.5, end - time.monotonic())):
                continue
            place = self.history, self.epoch
            if self.run(lambda one: one.has_come(place), end - time.monotonic()) and self.is_there():
                return True
        return False

    def is_there(self) -> bool:
        history, epoch, seq = self.wanted
        is_later = self.epoch == epoch or self.epoch.number > epoch.number
        return self.history == history and is_later and self.seq is not None and self.seq >= seq

    def has_come(self, place) -> bool:
        """Whether this observer is there, or has come to another epoch, so that it must ask again."""
        moved = (self.history, self.epoch) not in (place, self.wanted[:2])
        return self.is_there() or moved

    def turn(self, longest: float = 0.05) -> None:
        sockets = [one for one in (self.dealer, self.subscriber) if one]
        zmq.select(sockets, [], [], longest)
        for socket in sockets:
            # What one socket brings may close the other one.
            while not socket.closed:
                try:
                    data = b"".join(socket.recv_multipart(zmq.NOBLOCK))
                except zmq.Again:
                    break
                try:
                    if socket is self.subscriber:
                        data = wire.split_topic(data)[1]
                    self.receive(*wire.read_to_peer(data))
                except wire.Malformed:
                    self.dropped += 1
        self.advance(time.monotonic())

    def advance(self, now: float) -> None:
        if self.subscriber is None or now - self.heard > 3:
            if now >= self.next_hello:
                self.next_hello = now + 0.2
                self.tell(wire.Hello(self.wanted_loop, 0))
            return
        if now < self.not_before:
            return
        is_behind = self.seq is None or self.known > self.seq
        if self.transfer is None and is_behind and now - self.known_at >= PATIENCE + self.interval / 1000:
            self.transfer = Transfer()
        if self.transfer and now - self.transfer.asked >= REPEAT:
            self.transfer.asked = now
            self.ask(self.transfer)

    def ask(self, transfer: Transfer) -> None:
        # The first request begins a transfer; its answer names it.
        for part in transfer.missing() if transfer.name else [0]:
            self.tell(wire.StateWanted(transfer.name, part, 0, "", None))

    def tell(self, message) -> None:
        try:
            self.dealer.send(wire.to_reducer(self.loop, message), zmq.NOBLOCK)
        except zmq.Again:
            pass

    def receive(self, header: wire.Header, message) -> None:
        if isinstance(message, wire.Introduction):
            self.introduced(message)
            return
        if isinstance(message, wire.Refused):
            # The reducer ends a connection that subscribes to what is not for it, and the library would subscribe again for ever.
            if self.subscriber:
                self.subscriber.close()
            what = wire.REFUSED.get(message.what, f"code {message.what}")
            raise PeerRefused(f"{what}: the reducer has {message.reducers!r}, and this peer {message.peers!r}")
        if isinstance(message, wire.Status):
            self.wanted = header.history, header.epoch, cbor2.loads(message.document)["seq"]
            return
        if not self.follows(header):
            self.dropped += 1
            return
        self.heard = now = time.monotonic()
        match message:
            case wire.ServerHeartbeat() | wire.Ended():
                if message.seq > self.known:
                    self.known, self.known_at = message.seq, now
                if isinstance(message, wire.Ended):
                    self.end = message
            case wire.StateUpdate():
                self.updated += 1
                self.take(message.seq, message.state)
            case wire.StatePart():
                self.part(message)
            case wire.Busy():
                if self.transfer and message.to == wire.Question(wire.StateWanted.verb, self.transfer.name):
                    self.transfer = Transfer()
                    self.not_before = now + min(max(message.milliseconds, 100), 60_000) / 1000
            case wire.Transitions():
                self.transitions += len(message.notes)
            case wire.StateHash():
                self.hashes = {message.seq: message.hash}
                self.compare()
            case wire.Delta() if message.hash is not None:
                self.hashes = {message.seq: message.hash}
                self.compare()

    def introduced(self, news: wire.Introduction) -> None:
        self.loop = wire.loop_id(news.loop)
        if self.subscriber:
            self.subscriber.close()
        self.subscriber = self.address.socket(self.context, zmq.SUB, self.address.other(news.publisher))
        channels = [wire.states(self.loop, 0, self.interval), wire.deltas(self.loop, 0, self.interval)]
        for topic in [*channels, wire.topic(self.loop, wire.COMMON), wire.topic(self.loop, wire.TRANSITIONS)]:
            self.subscriber.subscribe(topic)
        self.heard = time.monotonic()

    def follows(self, header: wire.Header) -> bool:
        """Whether a message is of the history and epoch that this observer follows; a newer one is followed from here on."""
        if header.history == self.history and header.epoch.number <= self.epoch.number:
            return header.epoch == self.epoch
        if header.history in self.left_histories:
            return False
        # In a new history the state is asked for at once, as at the beginning; in a new epoch one is waited for.
        self.known_at = 0.0 if header.history != self.history else time.monotonic()
        if header.history != self.history:
            self.left_histories.add(self.history)
        # Seqs of two epochs do not compare: the journal may have lost what this observer has.
        self.seq = None
        self.history, self.epoch = header.history, header.epoch
        self.known = -1
        self.transfer = None
        self.hashes = {}
        return True

    def part(self, news: wire.StatePart) -> None:
        if not self.transfer:
            return
        whole = self.transfer.add(news)
        if whole is not None:
            self.fetched += 1
            self.transfer = None
            self.take(news.seq, whole)
        elif len(self.transfer.parts) == 1 or news.part % AHEAD == AHEAD - 1:
            self.ask(self.transfer)

    def take(self, seq: int, state: bytes) -> None:
        if self.seq is not None and seq <= self.seq:
            return
        cbor2.loads(state)
        self.seq, self.state = seq, state
        self.known = max(self.known, seq)
        self.compare()
        self.show()

    def compare(self) -> None:
        wanted = self.hashes.get(self.seq)
        if wanted is None:
            return
        if wire.fnv1a(self.state) != wanted:
            raise WrongState(f"at seq {self.seq}")
        self.compared += 1

    def report(self) -> dict:
        return {
            "seq": self.seq, "hash": f"{wire.fnv1a(self.state):016x}", "updated": self.updated, "fetched": self.fetched,
            "transitions": self.transitions, "compared": self.compared, "epoch": self.epoch.number,
        }  # fmt: skip

    def close(self) -> None:
        for socket in (self.dealer, self.subscriber):
            if socket:
                socket.close()
        self.context.term()
