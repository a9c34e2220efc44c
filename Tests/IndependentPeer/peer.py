"""A peer with a session: hello, join, claim, leases, the inbox, the outbox. Sender and worker are made of it."""

import os
import time

import zmq

from loop_conform import wire
from address import Address
from outbox import Outbox

REPEAT = 0.2
CLAIMS_IN_A_PART = 8192
HELLO, JOIN, CLAIM, SERVE, LEAVE, OVER = "hello", "join", "claim", "serve", "leave", "over"


class PeerRefused(Exception):
    """The reducer does not let this peer in."""


class Peer:
    """One process's part in a loop. Subclasses say what runs here, and hear what becomes of what they send."""

    groups: list[str] = []
    capacity = 0

    def __init__(self, address: Address, loop: str = "", schema: int = 0, feedbacks: list[str] | None = None, name: str = "python"):
        self.address, self.name = address, name
        self.wanted_loop, self.schema, self.feedbacks = loop, schema, feedbacks or []
        self.fingerprint = wire.fingerprint(loop, schema, self.feedbacks) if feedbacks else 0
        self.context = zmq.Context()
        self.dealer = address.socket(self.context, zmq.DEALER)
        self.subscriber = self.pusher = None
        self.introduction: wire.Introduction | None = None
        self.loop = wire.loop_id(loop)
        self.peer = os.urandom(16)
        self.session = self.history = 0
        self.epoch = wire.Epoch(0, 0)
        self.silence, self.interval = 3000, 500
        self.outbox = Outbox()
        self.dropped = 0
        self.phase = HELLO
        self.next_step = 0.0
        self.not_before = 0.0
        self.claim_number = 0
        self.applied = self.reported = 0
        self.is_in_gap = False
        self.assignment: list[wire.Assignments] = []
        self.echo = 0
        self.next_heartbeat = self.next_question = 0.0
        self.heard = self.moved = time.monotonic()
        self.new_pushes = 0
        self.left_at = 0.0
        self.leave_limit = 2.0

    # What subclasses say and hear.

    def held(self) -> list[wire.Held]:
        """Every attempt that runs here."""
        return []

    def admitted(self, is_new: bool) -> None:
        """The reducer has let this peer in; `is_new` where the session is another than before."""

    def command(self, command) -> None:
        """A grant, an update or a cancellation."""

    def assigned(self, grants: list[wire.Grant]) -> None:
        """Everything that should run here."""

    def outcome(self, number: int, entry: wire.Entry, code: int, seq: int) -> None:
        """What became of an entry."""

    def answered(self, answer: wire.Answer) -> None:
        """The answer to an entry that has asked, before its outcome."""

    def ended(self, news: wire.Ended) -> None:
        """The loop has an outcome."""

    def work(self, now: float) -> None:
        """A turn of the subclass."""

    # The loop of a turn.

    def turn(self, longest: float = 0.05) -> None:
        """Waits for something, reads everything, and acts."""
        sockets = [one for one in (self.dealer, self.subscriber) if one]
        zmq.select(sockets, [], [], longest)
        self.drain(self.dealer, self.control)
        if self.subscriber:
            self.drain(self.subscriber, self.published)
        now = time.monotonic()
        self.advance(now)
        if self.phase == SERVE:
            self.work(now)
            self.push()

    def drain(self, socket: zmq.Socket, read) -> None:
        while True:
            try:
                parts = socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            try:
                read(b"".join(parts))
            except wire.Malformed:
                self.dropped += 1
            if socket.closed:
                return

    def close(self) -> None:
        for socket in (self.dealer, self.subscriber, self.pusher):
            if socket:
                socket.close()
        self.context.term()

    # The way in.

    def advance(self, now: float) -> None:
        if self.phase in (HELLO, JOIN, CLAIM, LEAVE) and now >= max(self.next_step, self.not_before):
            self.next_step = now + REPEAT
            self.step(now)
        if self.phase == SERVE:
            if now >= self.next_heartbeat or self.applied - self.reported >= 64:
                self.heartbeat(now)
            is_asking = self.is_in_gap or self.outbox.watermark > self.outbox.settled
            if is_asking and now >= self.next_question:
                self.next_question = now + REPEAT
                self.ask()
        if self.phase in (JOIN, CLAIM, SERVE) and now - self.heard > self.silence / 1000:
            self.begin(HELLO)
            self.heard = now
        if self.phase == SERVE and self.outbox.entries and now - max(self.moved, self.heard - 1) > self.silence / 1000:
            self.push_again(now)
        if self.phase == LEAVE and now - self.left_at > self.leave_limit:
            self.phase = OVER

    def begin(self, phase: str) -> None:
        self.phase = phase
        self.next_step = 0.0

    def step(self, now: float) -> None:
        """Says what belongs to the phase; repeated until it is answered."""
        if self.phase == HELLO:
            self.tell(wire.Hello(self.wanted_loop, self.schema))
        elif self.phase == JOIN:
            self.tell(
                wire.Join(
                    self.peer, self.session, self.history, self.epoch, max(self.outbox.settled, self.outbox.watermark),
                    self.schema, self.fingerprint, self.capacity, self.groups, self.name, self.feedbacks,
                )  # fmt: skip
            )
        elif self.phase == CLAIM:
            self.claim(now)
        elif self.phase == LEAVE:
            self.tell(wire.Goodbye(self.session, self.peer, self.history))

    def tell(self, message) -> None:
        try:
            self.dealer.send(wire.to_reducer(self.loop, message), zmq.NOBLOCK)
        except zmq.Again:
            pass  # It is repeated.

    def claim(self, now: float) -> None:
        """Every attempt that runs or has entries in the outbox, in parts under one number."""
        all_held = {(one.effect, one.attempt): one for one in self.held()}
        for entry in self.outbox.entries.values():
            if entry.effect:
                all_held[entry.effect, entry.attempt] = wire.Held(entry.effect, entry.attempt)
        claims = list(all_held.values())
        self.claim_number += 1
        parts = [claims[at : at + CLAIMS_IN_A_PART] for at in range(0, len(claims), CLAIMS_IN_A_PART)] or [[]]
        for part, some in enumerate(parts):
            self.tell(wire.Claim(self.session, self.epoch, self.claim_number, part, len(parts), some))
        self.next_step = now + REPEAT * min(len(parts), 5)

    def heartbeat(self, now: float) -> None:
        self.next_heartbeat = now + self.interval / 1000
        self.reported = self.applied
        self.tell(wire.Heartbeat(self.session, self.epoch, self.echo, self.applied, self.outbox.settled, self.capacity))

    def ask(self) -> None:
        if self.is_in_gap:
            self.tell(wire.AssignmentsWanted(self.session, self.epoch))
        if self.outbox.watermark > self.outbox.settled:
            self.tell(wire.OutcomesWanted(self.session, self.outbox.settled))

    # What arrives over DEALER.

    def control(self, data: bytes) -> None:
        header, message = wire.read_to_peer(data)
        match message:
            case wire.Introduction():
                self.introduced(message)
            case wire.Busy():
                # Only the question of this phase waits.
                if message.to.verb == {HELLO: wire.Hello.verb, JOIN: wire.Join.verb}.get(self.phase):
                    self.not_before = time.monotonic() + min(max(message.milliseconds, 100), 60_000) / 1000
            case wire.Refused():
                self.phase = OVER
                what = wire.REFUSED.get(message.what, f"code {message.what}")
                raise PeerRefused(f"{what}: the reducer has {message.reducers!r}, and this peer {message.peers!r}")
            case wire.Assignments():
                if self.is_ours(header):
                    self.assignments(message)
            case wire.Outcomes():
                if self.is_ours(header):
                    self.acknowledged(message)
            case wire.GoodbyeHeard():
                if self.phase == LEAVE and header.session == self.session and header.history == self.history:
                    self.phase = OVER

    def introduced(self, news: wire.Introduction) -> None:
        if self.phase != HELLO:
            return
        self.introduction = news
        self.loop = wire.loop_id(news.loop)
        for socket in (self.subscriber, self.pusher):
            if socket:
                socket.close()
        self.subscriber = self.address.socket(self.context, zmq.SUB, self.address.other(news.publisher))
        self.subscriber.subscribe(wire.inbox(self.loop, self.peer))
        self.subscriber.subscribe(wire.topic(self.loop, wire.COMMON))
        self.connect_pusher()
        self.begin(JOIN)
        self.heard = time.monotonic()

    def connect_pusher(self) -> None:
        if self.pusher:
            self.pusher.close()
        self.pusher = self.address.socket(self.context, zmq.PUSH, self.address.other(self.introduction.collector))

    def is_ours(self, header: wire.Header) -> bool:
        """Whether a message is of this peer's history, epoch and session. A newer epoch or another history: join again."""
        if self.session and self.phase in (CLAIM, SERVE):
            is_elsewhere = header.history != self.history or header.epoch.number > self.epoch.number
            if is_elsewhere or (header.epoch == self.epoch and header.session > self.session):
                self.begin(JOIN)
                return False
        is_mine = (header.history, header.epoch, header.session) == (self.history, self.epoch, self.session)
        if not is_mine:
            self.dropped += 1
        return is_mine and self.phase in (CLAIM, SERVE)

    def assignments(self, part: wire.Assignments) -> None:
        if part.part == 0:
            self.assignment = []
        first = self.assignment[0] if self.assignment else part
        if (part.number, part.watermark, part.parts) != (first.number, first.watermark, first.parts):
            return
        if part.part != len(self.assignment):
            return
        self.assignment.append(part)
        if len(self.assignment) < part.parts:
            return
        grants = [grant for one in self.assignment for grant in one.grants]
        self.assignment = []
        if part.number < self.applied or part.watermark < self.outbox.watermark:
            if self.phase == CLAIM:
                self.begin(JOIN)
            else:
                self.is_in_gap = True
            return
        self.applied = part.number
        self.is_in_gap = False
        if self.phase == CLAIM:
            self.phase = SERVE
            self.moved = time.monotonic()
            self.next_heartbeat = 0.0
            # Whatever left before this connection may be lost.
            self.outbox.resend(self.outbox.settled)
        self.assigned(grants)

    # What is published.

    def published(self, data: bytes) -> None:
        topic, rest = wire.split_topic(data)
        header, message = wire.read_to_peer(rest)
        if topic[10:11] != wire.INBOX:
            # Only that there is another epoch, and the end of the loop, are news to a peer.
            if self.session and self.phase in (CLAIM, SERVE):
                if header.history != self.history or header.epoch.number > self.epoch.number:
                    self.begin(JOIN)
                elif isinstance(message, wire.Ended) and header.epoch == self.epoch:
                    self.ended(message)
            return
        self.heard = time.monotonic()
        if isinstance(message, wire.JoinAccepted):
            self.accepted(header, message)
            return
        if not self.is_ours(header):
            return
        match message:
            case wire.Commands():
                self.commands(message)
            case wire.Acknowledgement():
                self.acknowledged(message)
            case wire.Tick():
                self.tick(message)
            case wire.Ended():
                self.ended(message)

    def accepted(self, header: wire.Header, news: wire.JoinAccepted) -> None:
        if self.phase != JOIN:
            return
        is_new = (header.history, header.session) != (self.history, self.session)
        if is_new:
            self.drop_session()
        self.history, self.epoch, self.session = header.history, header.epoch, header.session
        self.silence = min(max(news.silence, 20), 3_600_000)
        self.interval = min(max(news.tick, 5), 10_000)
        self.applied = self.reported = 0
        self.is_in_gap = False
        self.assignment = []
        if self.outbox.is_foreign(news.watermark):
            self.abandon()
            return
        self.outbox.watermark = max(self.outbox.watermark, news.watermark)
        self.begin(CLAIM)
        self.admitted(is_new)

    def drop_session(self) -> None:
        for outcome in self.outbox.abandon():
            self.outcome(*outcome)

    def abandon(self) -> None:
        """Another process uses the session's numbers: leave it to that one, and join as a new peer."""
        self.drop_session()
        self.peer = os.urandom(16)
        self.session = 0
        self.begin(HELLO)

    def commands(self, news: wire.Commands) -> None:
        if self.phase != SERVE or self.is_in_gap or news.number <= self.applied:
            return
        if news.number > self.applied + 1:
            self.is_in_gap = True
            return
        self.applied = news.number
        for one in news.commands:
            self.command(one)

    def acknowledged(self, news) -> None:
        if self.outbox.is_foreign(news.watermark):
            self.abandon()
            return
        outcomes = self.outbox.settle(news)
        if outcomes:
            self.moved = time.monotonic()
            self.new_pushes = 0
            for answer in news.answers:
                self.answered(answer)
        for outcome in outcomes or []:
            self.outcome(*outcome)

    def tick(self, tick: wire.Tick) -> None:
        if self.outbox.is_foreign(tick.watermark):
            self.abandon()
            return
        self.echo = max(self.echo, tick.stamp)
        if self.phase == SERVE and tick.number > self.applied:
            self.is_in_gap = True
        self.outbox.tick(tick, self.interval)

    # What is sent.

    def post(self, payload: bytes, asks: bool = False) -> int:
        """An event that belongs to no effect; its outcome has the seq, and the answer to it if it asks."""
        flags = wire.WANTS_SEQ | (wire.WANTS_ANSWER if asks else 0)
        if not self.outbox.entries:
            self.moved = time.monotonic()
        return self.outbox.add(wire.Entry(wire.EVENT, flags, None, None, payload))

    def push(self) -> None:
        for first, entries in self.outbox.batches():
            body = wire.Batch(self.history, self.session, self.outbox.settled, self.applied, first, entries)
            if not self.send_batch(wire.batch(self.loop, body)):
                self.outbox.returned(first)
                return
            self.outbox.sent(first + len(entries) - 1)

    def send_batch(self, data: bytes) -> bool:
        try:
            self.pusher.send(data, zmq.NOBLOCK)
            return True
        except zmq.Again:
            return False

    def push_again(self, now: float) -> None:
        """The oldest entry is not consumed although the reducer is heard: a new PUSH, and at the fourth time a new session."""
        self.moved = now
        self.new_pushes += 1
        if self.new_pushes > 3:
            self.new_pushes = 0
            self.tell(wire.Goodbye(self.session, self.peer, self.history))
            self.begin(JOIN)
            return
        self.connect_pusher()
        self.outbox.resend(self.outbox.settled)

    def leave(self) -> None:
        """Says goodbye, until it is answered."""
        if self.phase == OVER:
            return
        self.left_at = time.monotonic()
        self.leave_limit = min(self.silence / 1000, 2)
        self.begin(LEAVE if self.session else OVER)
        while self.phase != OVER:
            self.turn()
