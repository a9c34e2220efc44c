"""The kit's ends of a conversation: the reducer that it plays for a worker or a client, and the peers that it plays for a reducer.

An end does by itself only what keeps the other side alive: ticks, or heartbeats. A case says everything else, and may stop those.
"""

from __future__ import annotations

import math
import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import zmq
import zmq.auth

from . import forms, wire

LOOP, SCHEMA = "conform", 1
FEEDBACKS = ["order@workers(default)", "other@workers(others)"]
FINGERPRINT = wire.fingerprint(LOOP, SCHEMA, FEEDBACKS)
CHANNELS = {
    wire.INBOX: "inbox",
    wire.STATES: "states",
    wire.DELTAS: "deltas",
    wire.TRANSITIONS: "transitions",
    wire.COMMON: "common",
}
FOLLOWED = {
    wire.StateUpdate.verb: wire.STATES,
    wire.Delta.verb: wire.DELTAS,
    wire.Unchanged.verb: wire.STATES + wire.DELTAS,
    wire.StateHash.verb: wire.DELTAS,
}
"""The channels of what is published on streams of updates."""
NO_EPOCH = "0/0"
ANSWERED_BY = {"Hello": 1, "Join": 2, "Claim": 6, "StateWanted": 9}
"""The steps of the way in and the request for the state, and the verbs of their answers."""
WAY_IN = {"Hello": "Introduction", "Join": "JoinAccepted", "Claim": "Assignments"}
OF_AN_EPOCH = ("Claim", "Heartbeat", "AssignmentsWanted", "Progress")
"""Messages that name a session and an epoch. A case that names none of them means the present ones."""


def variants(data: bytes, step: dict[str, Any]) -> list[bytes]:
    """A frame as a case wants it: cut at each byte, with bytes that were replaced, or with some at its end."""
    if step.get("cut"):
        return [data[:length] for length in range(len(data))]
    changed = bytearray(data)
    for index, value in step.get("patch", []):
        changed[index] = value
    return [bytes(changed) + bytes(step.get("trailing", 0))]


@dataclass
class Heard:
    """One message, or one entry of a batch, in the order of its socket."""

    name: str
    fields: dict[str, Any]
    socket: str
    index: int

    def __str__(self) -> str:
        text = f"{self.name} {self.fields}"
        return text if len(text) < 600 else text[:600] + " …"


class End:
    """Sockets, what was heard at them, and how far a case has read."""

    def __init__(self, context: zmq.Context[Any]) -> None:
        self.context = context
        self.sockets: dict[str, zmq.Socket[bytes]] = {}
        self.heard: list[Heard] = []
        self.record: list[tuple[str, Heard]] = []
        """What came and what was sent, in order, for reports."""
        self.read: dict[str, int] = {}
        """The index of the newest message that a case has expected: by name, and by socket."""
        self.loop = wire.loop_id(LOOP)
        self.history, self.epoch, self.session = 0, NO_EPOCH, 0
        self.settings: dict[str, Any] = {}

    def note(self, name: str, fields: dict[str, Any], socket: str) -> Heard:
        one = Heard(name, fields, socket, len(self.heard))
        self.heard.append(one)
        self.record.append(("came", one))
        return one

    def note_sent(self, name: str, fields: dict[str, Any], step: dict[str, Any]) -> None:
        more = {word: step[word] for word in ("header", "cut", "patch", "trailing") if step.get(word)}
        self.record.append(("sent", Heard(name, fields | more, "", -1)))

    def take(self, name: str, pattern: Any, is_next: bool = False) -> Heard | None:
        """The first message of a name that fits, behind those that were taken."""
        for one in self.heard[self.read.get(name, -1) + 1 :]:
            if one.name == name:
                if forms.fits(pattern, one.fields):
                    self.read[name] = one.index
                    self.read[one.socket] = max(one.index, self.read.get(one.socket, -1))
                    return one
                if is_next:
                    return None
        return None

    def intruder(self, name: str, pattern: Any) -> Heard | None:
        """A message that fits, and came behind everything that was taken from its socket."""
        for one in self.heard:
            if one.name == name and one.index > self.read.get(one.socket, -1) and forms.fits(pattern, one.fields):
                return one
        return None

    def turn(self) -> None:
        """Reads what has arrived, and says what is due."""
        for name, socket in list(self.sockets.items()):
            while not socket.closed and socket.poll(0):
                parts = socket.recv_multipart()
                try:
                    self.receive(name, parts)
                except wire.Malformed as error:
                    self.note("Malformed", {"why": str(error), "frame": {"hex": b"".join(parts)[-200:].hex()}}, name)
        self.speak(time.monotonic())

    def receive(self, name: str, parts: list[bytes]) -> None:
        raise NotImplementedError

    def speak(self, now: float) -> None:
        raise NotImplementedError

    def send(self, name: str, fields: dict[str, Any], step: dict[str, Any]) -> None:
        """Sends a message; `fields` are those that differ from the ones that are given."""
        raise NotImplementedError

    def admit(self, until: str, wait: Callable[[Callable[[], Any], str], Any]) -> None:
        """The way in, up to a phase: `hello`, `join`, `claim` or `serve`."""
        raise NotImplementedError

    def close(self) -> None:
        for socket in self.sockets.values():
            socket.close(0)


class Reducer(End):
    """What the kit plays for a worker or a client."""

    def __init__(self, context: zmq.Context[Any], certificate: str = "") -> None:
        super().__init__(context)
        for name, kind in (("control", zmq.ROUTER), ("published", zmq.XPUB), ("entries", zmq.PULL)):
            socket = self.sockets[name] = context.socket(kind)
            socket.linger = 0
            if certificate:
                socket.curve_server = True
                socket.curve_publickey, socket.curve_secretkey = zmq.auth.load_certificate(certificate)
        self.address = self.bind()
        self.history, self.epoch, self.session = 77, "1/7", 9
        self.number = self.watermark = 0
        self.counted = 0
        self.settings = {"ticking": False, "received": None, "resend": False, "silence": 3000, "tick": 100, "admitting": False}
        self.peer = "00" * 16
        self.routing = b""
        self.answers: dict[int, tuple[str, bytes]] = {}
        self.subscribed: set[bytes] = set()
        self.next_tick = 0.0

    def bind(self) -> str:
        """Binds three ports in a row, as a reducer does that is told the first of them."""
        while True:
            first = random.randrange(20_000, 60_000)
            self.ports = {name: first + offset for offset, name in enumerate(self.sockets)}
            bound: list[str] = []
            try:
                for name, port in self.ports.items():
                    self.sockets[name].bind(f"tcp://127.0.0.1:{port}")
                    bound.append(name)
                return f"tcp://127.0.0.1:{first}"
            except zmq.ZMQError:
                for name in bound:
                    self.sockets[name].unbind(f"tcp://127.0.0.1:{self.ports[name]}")

    def receive(self, name: str, parts: list[bytes]) -> None:
        if name == "control":
            if len(parts) != 2:
                raise wire.Malformed(f"{len(parts) - 1} frames")
            self.routing = parts[0]
            loop, message = wire.read_to_reducer(parts[1])
            said = {"loop_id": loop, "connection": self.routing.hex()} | forms.plain(message)
            self.note(type(message).__name__, said, name)
            if isinstance(message, wire.TO_REDUCER[2]):
                self.peer = message.peer.hex()
            self.say_again(message)
            if isinstance(message, wire.TO_REDUCER[10]) and "explain" in (forms.decoded(message.body) or {}):
                # A tool may ask first whether its event is one.
                answer: dict[str, Any] = {"explained": {"_0": {"unknownKeys": []}}}
                self.send("AnswerPart", {"request": message.request, "part": 0, "parts": 1, "chunk": answer}, {})
        elif name == "published":
            topic = parts[0][1:]
            self.subscribed.add(topic) if parts[0][0] else self.subscribed.discard(topic)
            what = "Subscription" if parts[0][0] else "Unsubscription"
            self.note(what, {"channel": CHANNELS.get(topic[10:11], "none"), "rest": topic[11:].hex()}, name)
        else:
            if len(parts) != 1:
                raise wire.Malformed(f"{len(parts)} frames")
            self.receive_batch(*wire.read_batch(parts[0]))

    def say_again(self, message: Any) -> None:
        """A step that was answered may come again, because the answer was lost or came too early: so it is answered again."""
        name = type(message).__name__
        if self.settings["admitting"] and name in WAY_IN:
            # An observer may join, and need not: the state is read without a session.
            self.send(WAY_IN[name], {}, {})
            self.settings["ticking"] = name == "Claim"
            return
        if name == "StateWanted" and message.transfer:
            return
        verb = ANSWERED_BY.get(name, 0)
        epoch, data = self.answers.get(verb, ("", b""))
        asked = forms.plain(message.epoch) if verb == ANSWERED_BY["Claim"] else epoch
        if epoch == self.epoch == asked:
            self.note_sent(f"the answer to {name} again", {}, {})
            self.put(verb, data, {})

    def receive_batch(self, loop: int, batch: Any) -> None:
        around = {"loop_id": loop} | {key: getattr(batch, key) for key in ("history", "session", "settled", "applied", "first")}
        for number, entry in enumerate(batch.entries, batch.first):
            said = {"number": number, "count": len(batch.entries)} | around | forms.plain(entry)
            self.note("Entry", said, "entries")
            if entry.flags & wire.LAST:
                # A last event is the event and the `completed` behind it.
                self.note("Entry", said | {"kind": "completed", "event": None}, "entries")
            if number == self.counted + 1:
                self.counted = number

    def speak(self, now: float) -> None:
        if self.settings["ticking"] and now >= self.next_tick:
            self.next_tick = now + self.settings["tick"] / 1000
            self.send("Tick", {}, {})

    def given(self, name: str) -> dict[str, Any]:
        """The fields that a case does not name."""
        received = self.settings["received"]
        question = {"verb": 2, "id": 0}
        return {
            "Introduction": {
                "loop": LOOP,
                "schema": SCHEMA,
                "fingerprint": FINGERPRINT,
                "publisher": str(self.ports["published"]),
                "collector": str(self.ports["entries"]),
                "event_bytes_max": 512 << 10,
            },
            "JoinAccepted": {
                "watermark": self.watermark,
                "silence": self.settings["silence"],
                "tick": self.settings["tick"],
                "feedbacks": ["order", "other"],
            },
            "Commands": {"number": self.number + 1},
            "Acknowledgement": {"base": self.watermark, "watermark": self.counted, "notable": [], "answers": []},
            "Outcomes": {"base": self.watermark, "watermark": self.counted, "notable": [], "answers": []},
            "Tick": {
                "number": self.number,
                "watermark": self.watermark,
                "received": self.counted if received is None else received,
                "stamp": time.monotonic_ns(),
                "resend": self.settings["resend"],
            },
            "Assignments": {"number": self.number + 1, "watermark": self.watermark, "part": 0, "parts": 1, "grants": []},
            "Busy": {"to": question, "milliseconds": 300, "reason": "the case says so"},
            "Refused": {"to": question, "what": 3, "reducers": "a", "peers": "b"},
            "Ended": {"seq": 5, "exit_code": 0, "text": "over"},
            "ServerHeartbeat": {"seq": 0},
            "StatePart": {"transfer": 1, "part": 0, "end": 2},
            "Delta": {"hash": None},
            "Redirect": {"address": self.address},
            "NoLeader": {"milliseconds": 200},
        }.get(name, {})

    def send(self, name: str, fields: dict[str, Any], step: dict[str, Any]) -> None:
        kind = forms.MESSAGES[name]
        whole = self.given(name) | fields
        self.note_sent(name, whole, step)
        header = {"history": self.history, "epoch": self.epoch, "session": self.session} | step.get("header", {})
        if name in ("Introduction", "Busy", "Refused", "Status") and "session" not in step.get("header", {}):
            header["session"] = 0
        data = wire.to_peer(forms.made(wire.Header, header), forms.made(kind, whole))
        if name in ("Commands", "Assignments") and not step.get("aside"):
            self.number = max(self.number, whole["number"])
        if name in ("Acknowledgement", "Outcomes") and not step.get("aside"):
            self.watermark = max(self.watermark, whole["watermark"])
        is_as_usual = not any(word in step for word in ("cut", "patch", "trailing", "header"))
        if kind.verb in ANSWERED_BY.values() and is_as_usual and not whole.get("part"):
            self.answers[kind.verb] = self.epoch, data
        for variant in variants(data, step):
            self.put(kind.verb, variant, step)

    def put(self, verb: int, data: bytes, step: dict[str, Any]) -> None:
        over = step.get("over") or ("published" if verb in (2, 3, 4, 5, 11, 13, 14, 15, 17, 18, 19, 21) else "control")
        if over == "control":
            self.sockets["control"].send_multipart([self.routing, data])
            return
        for topic in self.topics(verb, step):
            self.sockets["published"].send(topic + data)

    def topics(self, verb: int, step: dict[str, Any]) -> set[bytes]:
        """Where a message is published: an update on each stream of its kind that is followed."""
        if verb in FOLLOWED:
            return {topic for topic in self.subscribed if topic[10:11] in FOLLOWED[verb]}
        return {wire.topic(self.loop, wire.COMMON) if step.get("common") else self.inbox}

    @property
    def inbox(self) -> bytes:
        return wire.inbox(self.loop, bytes.fromhex(self.peer))

    def admit(self, until: str, wait: Callable[[Callable[[], Any], str], Any]) -> None:
        if until == "hello":
            return
        wait(lambda: self.take("Hello", {}), "a Hello")
        self.send("Introduction", {}, {})
        if until == "join":
            return
        wait(lambda: self.take("Join", {}) and self.inbox in self.subscribed, "a Join, and a subscription to its inbox")
        self.send("JoinAccepted", {}, {})
        if until == "claim":
            return
        wait(lambda: self.take("Claim", {}), "a Claim")
        self.send("Assignments", {}, {})
        self.settings["ticking"] = True
        wait(lambda: self.take("Heartbeat", {}), "a Heartbeat")


class Peer(End):
    """A peer that the kit plays for a reducer."""

    def __init__(self, context: zmq.Context[Any], address: str, keys: tuple[str, str] | None = None) -> None:
        super().__init__(context)
        self.address = address
        self.keys = keys
        """The files of its own secret certificate and of the reducer's public one."""
        self.peer = os.urandom(16).hex()
        self.next = 1
        self.applied = self.echo = self.settled = 0
        self.settings = {"beating": False, "groups": [], "feedbacks": None, "capacity": 4}
        self.claims = 0
        self.next_beat = 0.0
        self.dial()

    def dial(self) -> None:
        self.socket("control", zmq.DEALER).connect(self.address)

    def socket(self, name: str, kind: int) -> zmq.Socket[bytes]:
        socket: zmq.Socket[bytes] = self.context.socket(kind)
        self.sockets[name] = socket
        socket.linger = 0
        if self.keys:
            own, server = self.keys
            socket.curve_publickey, socket.curve_secretkey = zmq.auth.load_certificate(own)
            socket.curve_serverkey, _ = zmq.auth.load_certificate(server)
        return socket

    def receive(self, name: str, parts: list[bytes]) -> None:
        data = b"".join(parts)
        channel = ""
        if name == "published":
            topic, data = wire.split_topic(data)
            channel = CHANNELS[topic[10:11]]
        header, message = wire.read_to_peer(data)
        said = {"header": forms.plain(header), "channel": channel} | forms.plain(message)
        if isinstance(message, wire.TO_PEER[6] | wire.TO_PEER[3]) and header.session == self.session:
            self.applied = max(self.applied, message.number)
        if isinstance(message, wire.TO_PEER[5]):
            self.echo = max(self.echo, message.stamp)
        self.note(type(message).__name__, said, name)
        if isinstance(message, wire.TO_PEER[1]) and "published" not in self.sockets:
            self.connect(message)

    def connect(self, introduction: Any) -> None:
        host = self.address.rpartition(":")[0]
        for name, kind, port in (("published", zmq.SUB, introduction.publisher), ("entries", zmq.PUSH, introduction.collector)):
            socket = self.socket(name, kind)
            if kind == zmq.SUB:
                socket.subscribe(wire.inbox(self.loop, bytes.fromhex(self.peer)))
                socket.subscribe(wire.topic(self.loop, wire.COMMON))
            socket.connect(f"{host}:{port}" if port.isdecimal() else port)

    def subscribe(self, step: dict[str, Any]) -> None:
        """Follows a topic: a channel, and what it needs."""
        channel = next(byte for byte, name in CHANNELS.items() if name == step["subscribe"])
        rest = b""
        if channel in (wire.STATES, wire.DELTAS):
            section = wire.fnv1a(step["section"].encode()) if step.get("section") else 0
            rest = section.to_bytes(8, "little") + step.get("interval", 0).to_bytes(4, "little")
        self.sockets["published"].subscribe(wire.topic(self.loop, channel, rest))

    def speak(self, now: float) -> None:
        if self.settings["beating"] and now >= self.next_beat:
            self.next_beat = now + 0.1
            self.send("Heartbeat", {}, {})

    def given(self, name: str) -> dict[str, Any]:
        feedbacks = self.settings["feedbacks"]
        own = {"session": self.session, "epoch": self.epoch}
        return {
            "Hello": {"loop": LOOP, "schema": SCHEMA},
            "Join": {
                "peer": self.peer,
                "session": self.session,
                "history": self.history,
                "epoch": self.epoch,
                "watermark": self.settled,
                "schema": SCHEMA,
                "fingerprint": 0,
                "capacity": self.settings["capacity"],
                "groups": self.settings["groups"],
                "name": "kit",
                "feedbacks": feedbacks or (FEEDBACKS if self.settings["groups"] else []),
            },
            "Claim": own | {"number": self.claims + 1, "part": 0, "parts": 1, "claims": []},
            "Heartbeat": own
            | {"echo": self.echo, "applied": self.applied, "settled": self.settled, "capacity": self.settings["capacity"]},
            "AssignmentsWanted": own,
            "OutcomesWanted": {"session": self.session, "after": 0},
            "StateWanted": {"transfer": 0, "part": 0, "form": 0, "section": "", "follows_deltas": None},
            "Goodbye": {"session": self.session, "peer": self.peer, "history": self.history},
            "Administration": {"request": 1},
            "Progress": own,
            "Batch": {
                "history": self.history,
                "session": self.session,
                "settled": self.settled,
                "applied": self.applied,
                "first": self.next,
            },
        }.get(name, {})

    def send(self, name: str, fields: dict[str, Any], step: dict[str, Any]) -> None:
        loop = wire.loop_id(step["loop"]) if "loop" in step else self.loop
        whole = self.given(name) | fields
        self.note_sent(name, whole, step)
        if name == "Batch":
            body = forms.made(wire.Batch, whole)
            if "first" not in fields and not step.get("aside"):
                self.next += len(body.entries)
            data, socket = wire.batch(loop, body, step.get("version", 1)), "entries"
        else:
            body = forms.made(forms.MESSAGES[name], whole)
            self.claims += name == "Claim"
            data, socket = wire.to_reducer(loop, body, step.get("version", 1)), "control"
        for variant in variants(data, step):
            self.sockets[socket].send(variant)

    def admit(self, until: str, wait: Callable[[Callable[[], Any], str], Any]) -> None:
        if until == "hello":
            return
        # An introduction that came twice could be one of an older epoch. The first hello waits in its socket for a reducer.
        introduction = self.repeat("Hello", "Introduction", {}, wait, every=math.inf)
        if until == "join":
            return
        # An earlier acceptance may have come again.
        epoch = introduction.fields["header"]["epoch"]
        self.repeat("Join", "JoinAccepted", {"header": {"epoch": epoch}}, wait)
        accepted = self.heard[self.read["JoinAccepted"]].fields["header"]
        self.history, self.epoch, self.session = accepted["history"], accepted["epoch"], accepted["session"]
        self.applied = self.echo = 0
        if until == "claim":
            return
        self.repeat("Claim", "Assignments", {}, wait)
        self.settings["beating"] = True

    def repeat(
        self, name: str, answer: str, pattern: dict[str, Any], wait: Callable[[Callable[[], Any], str], Any], every: float = 0.2
    ) -> Heard:
        """Says something until it is answered: each so many seconds, and after the pause of a reducer that is busy."""
        due = 0.0
        question = {"to": {"verb": forms.MESSAGES[name].verb}}

        def answered() -> Heard | None:
            nonlocal due
            if busy := self.take("Busy", question):
                due = time.monotonic() + busy.fields["milliseconds"] / 1000
            if time.monotonic() >= due:
                due = time.monotonic() + every
                self.send(name, {}, {})
            return self.take(answer, pattern)

        found = wait(answered, f"the answer to {name}: {answer}")
        assert isinstance(found, Heard)
        return found
