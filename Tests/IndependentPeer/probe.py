"""Peers that do nothing by themselves: a check says what they send, and reads what they have heard."""

import itertools
import time

import cbor2
import zmq

from loop_conform import wire
from address import Address
from peer import SERVE, Peer


class Wrong(Exception):
    """A reducer does something else than the specification says."""


def expect(is_right: bool, what: str) -> None:
    if not is_right:
        raise Wrong(what)


def encoded(value) -> bytes:
    return cbor2.dumps(value, canonical=True)


def wait(what: str, until, *peers, seconds: float = 15) -> None:
    """Lets peers take turns until something holds."""
    end = time.monotonic() + seconds
    while not until():
        expect(time.monotonic() < end, f"not within {seconds} s: {what}")
        for one in peers:
            one.turn(0.01)


class Probe(Peer):
    """A peer with a session. It keeps what it is granted until it is told otherwise, and every message."""

    def __init__(self, address: Address, feedbacks: list[str] = (), groups: list[str] = (), capacity: int = 4, **names):
        super().__init__(address, feedbacks=list(feedbacks), **names)
        self.fingerprint = self.fingerprint if names.get("loop") else 0
        self.groups, self.capacity = list(groups), capacity
        self.feedback_names: list[str] = []
        self.running: dict[wire.Effect, wire.Grant] = {}
        self.cancelled: list[wire.Cancel] = []
        self.outcomes: dict[int, tuple[int, int]] = {}
        self.said: list = []
        self.heard_all: list = []
        self.loses = lambda first: False  # whether a batch is lost on its way, by its first number

    def held(self):
        return [wire.Held(one.effect, one.attempt) for one in self.running.values()]

    def accepted(self, header, news):
        self.heard_all.append((header, news))
        self.feedback_names = news.feedbacks
        super().accepted(header, news)

    def assigned(self, grants):
        self.running = {one.effect: one for one in grants}

    def command(self, command):
        if isinstance(command, wire.Cancel):
            self.running.pop(command.effect, None)
            self.cancelled.append(command)
        elif isinstance(command, wire.Grant):
            self.running[command.effect] = command

    def outcome(self, number, entry, code, seq):
        self.outcomes[number] = code, seq

    def post(self, payload, asks=False):
        number = super().post(payload, asks)
        self.outcomes.pop(number, None)  # of an earlier session
        return number

    def control(self, data):
        self.heard_all.append(wire.read_to_peer(data))
        super().control(data)

    def tick(self, tick):
        self.heard_all.append((None, tick))
        super().tick(tick)

    def tell(self, message):
        self.said.append(message)
        super().tell(message)

    def send_batch(self, data):
        return self.loses(wire.read_batch(data)[1].first) or super().send_batch(data)

    def heard_of(self, kind: type) -> list:
        return [message for _, message in self.heard_all if isinstance(message, kind)]

    def said_of(self, kind: type) -> list:
        return [message for message in self.said if isinstance(message, kind)]

    def serve(self) -> "Probe":
        wait("a session", lambda: self.phase == SERVE, self)
        return self

    def granted(self, name: str) -> wire.Grant:
        """The effect of a feedback that runs here, once there is one."""
        wait(f"an effect of {name}", lambda: self.of(name), self)
        return self.of(name)[0]

    def of(self, name: str) -> list[wire.Grant]:
        return [one for one in self.running.values() if self.feedback_names[one.effect.feedback] == name]

    def settle(self, number: int) -> tuple[int, int]:
        """Code and seq of an entry."""
        wait(f"the outcome of entry {number}", lambda: number in self.outcomes, self)
        return self.outcomes[number]

    def apply(self, event) -> int:
        """Sends an event of no effect, which must be applied. Returns its seq."""
        code, seq = self.settle(self.post(encoded(event)))
        expect(code == 0, f"{event} is refused with code {code}")
        return seq

    def finish(self, grant: wire.Grant, kind: int, payload: bytes = b"", flags: int = 0) -> tuple[int, int]:
        """Sends an entry of an effect. Returns its outcome; what ends the effect's attempt ends it here too."""
        number = self.outbox.add(wire.Entry(kind, flags | wire.HAS_EFFECT, grant.effect, grant.attempt, payload))
        if kind != wire.EVENT or flags & wire.LAST:
            self.running.pop(grant.effect, None)
        return self.settle(number)

    def fail(self, grant: wire.Grant, flags: int, milliseconds: int, message: str) -> None:
        payload = bytearray()
        wire.Failure.codec.write(payload, wire.Failure(flags, milliseconds, message))
        code, _ = self.finish(grant, wire.FAILED, bytes(payload))
        expect(code == 0, f"the failure is refused with code {code}")


class Asker:
    """Asks over a DEALER, without a session, one question at a time."""

    def __init__(self, address: Address, loop: str = ""):
        self.context = zmq.Context()
        self.dealer = address.socket(self.context, zmq.DEALER)
        self.loop = wire.loop_id(loop)
        self.numbers = itertools.count(1)

    def exchange(self, question, loop: str | None = None):
        """Header and message of the first answer."""
        self.tell(question, loop)
        return self.next()

    def tell(self, message, loop: str | None = None) -> None:
        self.dealer.send(wire.to_reducer(self.loop if loop is None else wire.loop_id(loop), message))

    def next(self):
        expect(bool(self.dealer.poll(15_000)), "no answer within 15 s")
        return wire.read_to_peer(self.dealer.recv())

    def status(self) -> dict:
        return cbor2.loads(self.exchange(wire.StatusWanted())[1].document)

    def ask(self, request: dict):
        """The answer to an operator's request: its document, or what has refused it."""
        number = next(self.numbers)
        message = self.exchange(wire.Administration(number, encoded(request)))[1]
        chunks = []
        while isinstance(message, wire.AnswerPart):
            expect((message.request, message.part) == (number, len(chunks)), f"part {message.part} to {message.request}")
            chunks.append(message.chunk)
            if len(chunks) == message.parts:
                return cbor2.loads(b"".join(chunks))
            message = self.next()[1]
        return message

    def state(self, at: int | None = None):
        """The newest state, or that after a transition."""
        return cbor2.loads(self.ask({"state": {} if at is None else {"at": at}})["state"]["bytes"])

    def records(self, first: int, through: int | None = None) -> list[dict]:
        asked = {"from": first} | ({"through": through} if through else {})
        return self.ask({"history": asked})["history"]["_0"]["records"]

    def close(self) -> None:
        self.dealer.close()
        self.context.term()
