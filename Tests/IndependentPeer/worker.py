"""An honest worker: attempts run here by their leases, and go on while the reducer is away."""

import os
import random
import time
from dataclasses import dataclass

import cbor2

from loop_conform import wire
from peer import SERVE, Peer

STALE, ATTEMPT, ENDED = 1, 2, 5


@dataclass
class Running:
    """One attempt: the request, and the steps of its body that are left."""

    grant: wire.Grant
    request: object
    body: object
    wake: float = 0.0


class Worker(Peer):
    """Runs effects. `bodies` maps the name of a feedback to a generator function.

    A body gets the request and the number of failures before. It yields a number of seconds to wait, or an event to send; its
    last event, which ends the effect, is yielded as `Last(event)`. A body that raises has failed.
    """

    def __init__(self, address, bodies: dict, groups: list[str], capacity: int = 8, **names):
        super().__init__(address, **names)
        self.bodies, self.groups, self.capacity = bodies, groups, capacity
        self.feedbacks = self.feedbacks or [f"{name}@workers({group})" for name in bodies for group in groups]
        self.names: list[str] = []
        self.running: dict[wire.Effect, Running] = {}
        self.remembered: set[tuple[wire.Effect, wire.Attempt]] = set()
        self.started = self.finished = self.cancelled = self.failed = self.refused = self.admissions = 0
        self.is_over = False

    def held(self) -> list[wire.Held]:
        return [wire.Held(one.grant.effect, one.grant.attempt) for one in self.running.values()]

    def accepted(self, header, news) -> None:
        self.names = news.feedbacks
        super().accepted(header, news)

    def admitted(self, is_new: bool) -> None:
        self.admissions += 1

    def drop_session(self) -> None:
        super().drop_session()
        self.running.clear()
        self.remembered.clear()

    # What should run.

    def command(self, command) -> None:
        match command:
            case wire.Grant():
                self.start(command)
            case wire.Update():
                self.update(command)
            case wire.Cancel():
                self.cancel(command.effect, command.attempt)

    def assigned(self, grants: list[wire.Grant]) -> None:
        wanted = {(one.effect, one.attempt) for one in grants}
        for one in list(self.running.values()):
            if (one.grant.effect, one.grant.attempt) not in wanted:
                self.cancel(one.grant.effect, one.grant.attempt)
        for one in grants:
            if one.effect not in self.running:
                self.start(one)
            elif self.running[one.effect].grant.version != one.version:
                self.running[one.effect].request = cbor2.loads(one.request)

    def start(self, grant: wire.Grant) -> None:
        """An attempt runs at most once here."""
        is_known = (grant.effect, grant.attempt) in self.remembered
        if is_known or self.is_over:
            return
        self.remembered.add((grant.effect, grant.attempt))
        self.started += 1
        request = cbor2.loads(grant.request)
        body = self.bodies[self.names[grant.effect.feedback]](request, grant.failures)
        self.running[grant.effect] = Running(grant, request, body)

    def update(self, news: wire.Update) -> None:
        one = self.running.get(news.effect)
        if one and one.grant.attempt == news.attempt and news.version > one.grant.version:
            one.request = cbor2.loads(news.request)

    def cancel(self, effect: wire.Effect, attempt: wire.Attempt) -> None:
        one = self.running.get(effect)
        if one and one.grant.attempt == attempt:
            one.body.close()
            del self.running[effect]
            self.cancelled += 1

    # What runs.

    def work(self, now: float) -> None:
        for one in list(self.running.values()):
            if now >= one.wake:
                self.advance_body(one, now)

    def advance_body(self, one: Running, now: float) -> None:
        try:
            while True:
                step = next(one.body)
                if isinstance(step, (int, float)):
                    one.wake = now + step
                    return
                is_last = isinstance(step, Last)
                self.entry(one, wire.EVENT, wire.LAST if is_last else 0, cbor2.dumps(step.event if is_last else step, canonical=True))
                if is_last:
                    break
        except StopIteration:
            self.entry(one, wire.COMPLETED)
        except Failed as error:
            self.failed += 1
            self.entry(one, wire.FAILED, 0, wire_bytes(wire.Failure(0, 0, str(error))))
            del self.running[one.grant.effect]
            return
        self.finished += 1
        del self.running[one.grant.effect]

    def entry(self, one: Running, kind: int, flags: int = 0, payload: bytes = b"") -> None:
        if not self.outbox.entries:
            self.moved = time.monotonic()
        # An event goes on in the trace of its effect.
        trace = one.grant.trace if kind == wire.EVENT else b""
        self.outbox.add(wire.Entry(kind, flags | wire.HAS_EFFECT, one.grant.effect, one.grant.attempt, payload, trace))

    def outcome(self, number: int, entry: wire.Entry, code: int, seq: int) -> None:
        if code:
            self.refused += 1
        if code in (STALE, ATTEMPT, ENDED):
            self.cancel(entry.effect, entry.attempt)
        key = (entry.effect, entry.attempt)
        is_waiting = any((one.effect, one.attempt) == key for one in self.outbox.entries.values())
        if entry.effect not in self.running and not is_waiting:
            self.remembered.discard(key)

    def ended(self, news: wire.Ended) -> None:
        self.is_over = True
        self.capacity = 0

    def run(self, until, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end and not until() and not self.is_over:
            self.turn(0.01)

    def stop(self) -> None:
        """Hands everything back: capacity 0, entries `released`, then the goodbye."""
        self.capacity = 0
        for one in list(self.running.values()):
            one.body.close()
            self.entry(one, wire.RELEASED)
        self.running.clear()
        end = time.monotonic() + 5
        while self.phase == SERVE and self.outbox.entries and time.monotonic() < end:
            self.turn()
        self.leave()

    def report(self) -> dict:
        return {
            "started": self.started, "finished": self.finished, "cancelled": self.cancelled, "failed": self.failed,
            "refused": self.refused, "admissions": self.admissions, "session": self.session, "epoch": self.epoch.number,
        }  # fmt: skip


class Failed(Exception):
    """A body could not do its work."""


@dataclass
class Last:
    """An event that ends its effect."""

    event: object


def wire_bytes(value) -> bytes:
    out = bytearray()
    value.codec.write(out, value)
    return bytes(out)


def booker(until: str | None = None):
    """The body of the ledger's `book`. Where a path is given, it waits until there is a file."""

    def book(request, failures):
        work = request["work"]
        slip = random.getrandbits(63)
        yield {"begun": {"deposit": request["deposit"], "slip": slip}}
        yield work["milliseconds"] / 1000
        while until and not os.path.exists(until):
            yield 0.05
        if failures < work["failures"]:
            raise Failed("the trouble that the deposit asked for")
        yield Last({"booked": {"deposit": request["deposit"], "slip": slip}})

    return book
