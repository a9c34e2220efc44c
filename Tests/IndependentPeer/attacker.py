"""An attacker: each attack is a function with a name. It says what it has sent; whether that did harm is for others to see.

An attack ends after `count` hostile messages or `seconds`, whichever is first. If it has then sent fewer than `least`, because no
processor was free, it goes on for at most a minute. It draws everything from `seed`. With keys the attacker is an admitted peer;
without them, or with a key that is not admitted, it is a stranger.
"""

import dataclasses
import os
import random
import socket
import struct
import time

import zmq
import zmq.utils.monitor

from loop_conform import wire
from address import Address
from peer import PeerRefused
from zmtp import Connection, HandshakeFailed, command, greeting, properties

LOOP = "ledger"
EXTREMES = [0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1]


class Attacker:
    """What all attacks use: sockets, chance, and the count of what was sent."""

    def __init__(self, address: Address, count: int, least: int, seconds: float, seed: int):
        self.address, self.count, self.least, self.seconds, self.seed = address, count, least, seconds, seed
        self.dice = random.Random(seed)
        self.start_clock()
        self.context = zmq.Context()
        self.context.max_sockets = 65_535 if zmq.zmq_version_info() >= (4,) else 1023
        self.loop = wire.loop_id(LOOP)
        self.sent = self.received = 0
        self.refused: dict[str, int] = {}
        self.raw: list[socket.socket] = []

    def start_clock(self) -> None:
        """Begins the attack's seconds again, for an attack that has first made what it sends."""
        self.end = time.monotonic() + self.seconds

    @property
    def goes_on(self) -> bool:
        limit = self.end if self.sent >= self.least else self.end + 60
        return self.sent < self.count and time.monotonic() < limit

    def dial(self, kind: int, offset: int = 0, **options) -> zmq.Socket:
        """A ZeroMQ socket to ROUTER (0), PUB (1) or PULL (2)."""
        one = self.context.socket(kind)
        one.linger = 200
        one.sndtimeo = 500
        for name, value in options.items():
            setattr(one, name, value)
        if self.address.server:
            one.curve_publickey, one.curve_secretkey = self.address.public, self.address.secret
            one.curve_serverkey = self.address.server
        one.connect(self.address.beside(offset))
        return one

    def send(self, one: zmq.Socket, data: bytes, flags: int = 0) -> bool:
        try:
            one.send(data, flags)
        except zmq.ZMQError:
            return False
        self.sent += 1
        return True

    def listen(self, one: zmq.Socket, seconds: float = 0.0) -> list:
        """The messages that come within a time."""
        got = []
        end = time.monotonic() + seconds
        while True:
            wait = max(end - time.monotonic(), 0)
            if not one.poll(int(wait * 1000)):
                return got
            data = b"".join(one.recv_multipart())
            self.received += 1
            try:
                got.append(wire.read_to_peer(data))
            except wire.Malformed:
                continue
            message = got[-1][1]
            if isinstance(message, wire.Refused):
                what = wire.REFUSED.get(message.what, str(message.what))
                self.refused[what] = self.refused.get(what, 0) + 1

    def tcp(self, offset: int = 0) -> socket.socket | None:
        """A plain connection."""
        host, _, port = self.address.beside(offset).removeprefix("tcp://").rpartition(":")
        try:
            one = socket.create_connection((host, int(port)), 2)
        except OSError:
            return None
        one.settimeout(0.5)
        self.raw.append(one)
        return one

    def zmtp(self, offset: int, kind: bytes) -> Connection | None:
        """A connection that speaks ZMTP by our own hand, with the attacker's key where there are keys."""
        one = self.tcp(offset)
        if one is None:
            return None
        one.settimeout(2)
        try:
            return Connection(one, kind, self.address)
        except (OSError, HandshakeFailed):
            return None

    def write(self, one: socket.socket, data: bytes) -> bool:
        try:
            one.sendall(data)
        except OSError:
            return False
        self.sent += 1
        return True

    def close(self) -> None:
        for one in self.raw:
            one.close()
        self.context.destroy(linger=200)

    def report(self) -> dict:
        return {"sent": self.sent, "received": self.received, "refused": self.refused}

    def introduce(self) -> tuple[zmq.Socket, wire.Header | None]:
        """A DEALER that has said hello, and the header that it learned history and epoch from."""
        dealer = self.dial(zmq.DEALER)
        for _ in range(5):
            dealer.send(wire.to_reducer(self.loop, wire.Hello(LOOP, 0)))
            for header, message in self.listen(dealer, 0.3):
                if isinstance(message, wire.Introduction):
                    return dealer, header
        return dealer, None


# Frames.


def messages(dice: random.Random) -> list:
    """A message of each verb, with drawn numbers."""
    number = lambda: dice.choice(EXTREMES + [dice.getrandbits(64), dice.getrandbits(8)])  # noqa: E731
    epoch = wire.Epoch(number(), number())
    effect = wire.Effect(number() & 0xFFFFFFFF, number(), number() & 0xFFFFFFFF)
    attempt = wire.Attempt(number(), number())
    peer = bytes(dice.getrandbits(8) for _ in range(16))
    small = number() & 0xFFFFFFFF
    return [
        wire.Hello(LOOP, number()),
        wire.Claim(number(), epoch, number(), small, number() & 0xFFFFFFFF, [wire.Held(effect, attempt)]),
        wire.Heartbeat(number(), epoch, number(), number(), number(), small),
        wire.AssignmentsWanted(number(), epoch),
        wire.OutcomesWanted(number(), number()),
        wire.StateWanted(number(), number(), dice.choice([0, 1, 2, 255]), "", dice.choice([None, small])),
        wire.StateWanted(0, number(), 0, "no such section", None),
        wire.Goodbye(number(), peer, number()),
        wire.StatusWanted(),
        wire.Administration(number(), bytes(dice.getrandbits(8) for _ in range(dice.randrange(40)))),
    ]


def join(dice: random.Random, **changes) -> wire.Join:
    """A join request of a new peer without a past."""
    peer = bytes(dice.getrandbits(8) for _ in range(16))
    plain = wire.Join(peer, 0, 0, wire.Epoch(0, 0), 0, 0, 0, 0, [], "attacker", [])
    return dataclasses.replace(plain, **changes)


def batches(dice: random.Random, history: int, session: int | None = None) -> list:
    """Batches with drawn numbers, under a history."""
    number = lambda: dice.choice(EXTREMES + [dice.randrange(1, 40)])  # noqa: E731
    effect = wire.Effect(number() & 0xFFFFFFFF, number(), number() & 0xFFFFFFFF)
    attempt = wire.Attempt(number(), number())
    entries = [
        wire.Entry(wire.EVENT, 0, None, None, b"\xa0"),
        wire.Entry(wire.EVENT, wire.HAS_EFFECT | wire.LAST, effect, attempt, b"\x01"),
        wire.Entry(wire.COMPLETED, wire.HAS_EFFECT, effect, attempt, b""),
        wire.Entry(wire.FAILED, wire.HAS_EFFECT, effect, attempt, struct.pack("<BQI", 3, number(), 0)),
        wire.Entry(wire.RELEASED, wire.HAS_EFFECT, effect, attempt, b""),
    ]
    sessions = number() if session is None else session
    return [wire.Batch(history, sessions, number(), number(), max(number(), 1), [entry]) for entry in entries]


def mutated(dice: random.Random, data: bytes) -> bytes:
    """A frame that is cut, or has bits, bytes or lengths changed."""
    out = bytearray(data)
    kind = dice.randrange(6)
    if kind == 0:
        return bytes(out[: dice.randrange(len(out))])
    if kind == 1:
        out[dice.randrange(len(out))] ^= 1 << dice.randrange(8)
    elif kind == 2:
        for _ in range(dice.randrange(1, 8)):
            out[dice.randrange(len(out))] = dice.getrandbits(8)
    elif kind == 3 and len(out) > 16:
        at = dice.randrange(12, len(out) - 3)
        out[at : at + 4] = struct.pack("<I", dice.choice([0, 1, 2**31 - 1, 2**31, 2**32 - 1]))
    elif kind == 4:
        out += bytes(dice.getrandbits(8) for _ in range(dice.randrange(1, 64)))
    elif len(out) > 20:
        out[12] = dice.getrandbits(8)
    return bytes(out)


# Attacks by strangers.


def handshakes(attacker: Attacker) -> None:
    """Hello, status and subscriptions of a peer that is not admitted; says how its handshake ended."""
    dealer = attacker.dial(zmq.DEALER)
    monitor = dealer.get_monitor_socket()
    subscriber = attacker.dial(zmq.SUB, 1)
    subscriber.subscribe(b"")
    pusher = attacker.dial(zmq.PUSH, 2, sndtimeo=50)
    while attacker.goes_on:
        attacker.send(dealer, wire.to_reducer(attacker.loop, wire.Hello(LOOP, 0)), zmq.NOBLOCK)
        attacker.send(dealer, wire.to_reducer(attacker.loop, wire.StatusWanted()), zmq.NOBLOCK)
        attacker.send(pusher, wire.batch(attacker.loop, batches(attacker.dice, 1)[0]), zmq.NOBLOCK)
        attacker.listen(dealer, 0.02)
        attacker.listen(subscriber)
        while monitor.poll(0):
            event = zmq.utils.monitor.recv_monitor_message(monitor)
            name = zmq.Event(event["event"]).name.lower()
            if name.startswith("handshake"):
                attacker.refused[name] = attacker.refused.get(name, 0) + 1


GREETING = greeting(b"NULL")


def ready(kind: bytes) -> bytes:
    """The command by which a NULL client says which socket it is."""
    return command(b"READY", properties(kind))


def garbage(attacker: Attacker) -> None:
    """Bytes that are no ZMTP, or break off in it, on plain TCP."""
    dice = attacker.dice
    noise = lambda: dice.randbytes(dice.randrange(1, 4000))  # noqa: E731
    while attacker.goes_on:
        begin = dice.choice(
            [b"", GREETING[: dice.randrange(64)], GREETING, GREETING + ready(b"DEALER"), GREETING + ready(noise()[:200]),
             b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\x16\x03\x01" + noise(), mutated(dice, GREETING + ready(b"PUSH"))]
        )  # fmt: skip
        one = attacker.tcp(dice.randrange(3))
        if one:
            attacker.write(one, begin)
            for _ in range(dice.randrange(6)):
                # A frame of a length that does not follow, a command, or noise.
                frame = dice.choice([b"\x02" + struct.pack(">Q", dice.choice(EXTREMES)), b"\x04" + noise(), noise()])
                if not attacker.write(one, frame + noise()):
                    break
            if len(attacker.raw) > 100:
                attacker.raw.pop(dice.randrange(100)).close()


def half_open(attacker: Attacker) -> None:
    """Connections that say nothing, or a byte at a time, and stay."""
    slow = []
    while attacker.goes_on:
        if len(slow) < 300:
            one = attacker.tcp(len(slow) % 3)
            if one:
                slow.append((one, iter(GREETING + ready(b"DEALER"))))
        for one, rest in list(slow):
            byte = next(rest, None)
            if byte is None or not attacker.write(one, bytes([byte])):
                slow.remove((one, rest))
        time.sleep(0.01)


def wrong_types(attacker: Attacker) -> None:
    """Every kind of socket at each of the three."""
    names = ["REQ", "REP", "PAIR", "PUB", "XPUB", "SUB", "XSUB", "PUSH", "PULL", "DEALER", "ROUTER", "STREAM"]
    while attacker.goes_on:
        made = []
        for name in names:
            for offset in range(3):
                one = attacker.dial(getattr(zmq, name), offset, sndtimeo=20)
                made.append(one)
                if name not in ("SUB", "PULL"):
                    attacker.send(one, b"\x01" + wire.to_reducer(attacker.loop, wire.StatusWanted()), zmq.NOBLOCK)
                if name == "SUB":
                    one.subscribe(b"\x01")
        attacker.sent += len(made)
        time.sleep(0.1)
        for one in made:
            one.close(linger=0)


# Attacks by peers.


def mutations(attacker: Attacker) -> None:
    """Frames of every kind, cut and changed."""
    dealer, header = attacker.introduce()
    history = header.history if header else 1
    pusher = attacker.dial(zmq.PUSH, 2)
    while attacker.goes_on:
        for message in messages(attacker.dice):
            data = mutated(attacker.dice, wire.to_reducer(attacker.loop, message))
            attacker.send(dealer, data)
        for one in batches(attacker.dice, history):
            attacker.send(pusher, mutated(attacker.dice, wire.batch(attacker.loop, one)))
        attacker.listen(dealer)


def nested(attacker: Attacker) -> None:
    """CBOR 10^5 deep where CBOR is read: requests of operators, events."""
    dealer, header = attacker.introduce()
    history = header.history if header else 1
    pusher = attacker.dial(zmq.PUSH, 2)
    while attacker.goes_on:
        deep = attacker.dice.choice([b"\x81", b"\xa1\x60", b"\xc1", b"\x9f", b"\xa1\x00"]) * 100_000
        attacker.send(dealer, wire.to_reducer(attacker.loop, wire.Administration(1, deep)))
        entry = wire.Entry(wire.EVENT, 0, None, None, deep)
        attacker.send(pusher, wire.batch(attacker.loop, wire.Batch(history, 1, 0, 0, 1, [entry])))
        attacker.listen(dealer, 0.002)


def extremes(attacker: Attacker) -> None:
    """Well-formed messages with the smallest and the largest numbers."""
    dealer, header = attacker.introduce()
    history = header.history if header else 1
    pusher = attacker.dial(zmq.PUSH, 2)
    while attacker.goes_on:
        for message in messages(attacker.dice):
            attacker.send(dealer, wire.to_reducer(attacker.loop, message))
        for one in batches(attacker.dice, history):
            attacker.send(pusher, wire.batch(attacker.loop, one))
        attacker.listen(dealer)


def greetings(attacker: Attacker) -> None:
    """Join requests that name an epoch, a nonce, a session or a watermark that never was."""
    dealer, header = attacker.introduce()
    if not header:
        return
    history, epoch = header.history, header.epoch
    past = [
        {"epoch": wire.Epoch(epoch.number + 1, 1)},
        {"epoch": wire.Epoch(epoch.number, epoch.nonce ^ 1)},
        {"epoch": epoch, "session": 2**40},
        {"epoch": epoch, "session": 1, "watermark": 2**40},
        {"epoch": epoch, "watermark": 2**64 - 1},
    ]
    while attacker.goes_on:
        drawn = [attacker.dice.choice(EXTREMES[2:]) for _ in range(4)]
        drawn = {"epoch": wire.Epoch(drawn[0], drawn[1]), "session": drawn[2], "watermark": drawn[3]}
        for change in [*past, drawn]:
            request = join(attacker.dice, history=history, **change)
            attacker.send(dealer, wire.to_reducer(attacker.loop, request))
        attacker.listen(dealer, 0.01)


def lies(attacker: Attacker) -> None:
    """A session of the attacker's own, of which it says that records are missing."""
    dealer, header = attacker.introduce()
    if not header:
        return
    subscriber = attacker.dial(zmq.SUB, 1)
    while attacker.goes_on:
        first = join(attacker.dice, history=header.history, epoch=header.epoch)
        subscriber.subscribe(wire.inbox(attacker.loop, first.peer))
        time.sleep(0.1)
        attacker.send(dealer, wire.to_reducer(attacker.loop, first))
        if subscriber.poll(500):
            _, rest = wire.split_topic(b"".join(subscriber.recv_multipart()))
            own = wire.read_to_peer(rest)[0].session
            lie = dataclasses.replace(first, session=own, watermark=2**40)
            attacker.send(dealer, wire.to_reducer(attacker.loop, lie))


def forged_batches(attacker: Attacker) -> None:
    """Batches, heartbeats and goodbyes in other peers' sessions."""
    dealer, header = attacker.introduce()
    if not header:
        return
    pusher = attacker.dial(zmq.PUSH, 2)
    while attacker.goes_on:
        session = attacker.dice.randrange(1, 12)
        for one in batches(attacker.dice, header.history, session):
            attacker.send(pusher, wire.batch(attacker.loop, one))
        epoch = header.epoch
        for message in [
            wire.Heartbeat(session, epoch, 2**64 - 1, 2**64 - 1, 2**64 - 1, 2**32 - 1),
            wire.Claim(session, epoch, 2**64 - 1, 0, 1, []),
            wire.AssignmentsWanted(session, epoch),
            wire.OutcomesWanted(session, 0),
            wire.Goodbye(session, attacker.dice.randbytes(16), header.history),
        ]:
            attacker.send(dealer, wire.to_reducer(attacker.loop, message))
        attacker.listen(dealer)


def subscriptions(attacker: Attacker) -> None:
    """Subscriptions to everything, to prefixes, to other peers' inboxes, and to no topic."""
    loop = struct.pack("<QH", attacker.loop, 0)
    others = [wire.inbox(attacker.loop, attacker.dice.randbytes(16)) for _ in range(20)]
    local = wire.inbox(attacker.loop, bytes.fromhex("6c6f63616c000000" + "00" * 8))
    topics = [b"", loop, loop + b"i", loop[:4], local, local[:20], os.urandom(200), bytes(512), *others]
    while attacker.goes_on:
        one = attacker.dial(zmq.SUB, 1)
        for topic in attacker.dice.sample(topics, 4):
            one.subscribe(topic)
            attacker.sent += 1
        end = time.monotonic() + 0.2
        while time.monotonic() < end and one.poll(50):
            topic, _ = wire.split_topic(b"".join(one.recv_multipart()))
            attacker.received += 1
            if topic[10:11] == wire.INBOX:
                attacker.refused["inbox read"] = attacker.refused.get("inbox read", 0) + 1
        one.close(linger=0)


def routing_ids(attacker: Attacker) -> None:
    """Routing ids that ROUTER would give out itself: those of a `rand()` without a seed, and of small seeds."""
    import ctypes

    libc = ctypes.CDLL(None)
    guesses = []
    for seed in [1, 0, *range(2, 16)]:
        libc.srand(seed)
        first = libc.rand() | (libc.rand() << 31) & 0xFFFFFFFF
        guesses += [(first + step) & 0xFFFFFFFF for step in range(16)]
    while attacker.goes_on:
        made = []
        for guess in attacker.dice.sample(guesses, 32):
            one = attacker.dial(zmq.DEALER, routing_id=b"\x00" + struct.pack(">I", guess))
            attacker.send(one, wire.to_reducer(attacker.loop, wire.Hello(LOOP, 0)), zmq.NOBLOCK)
            made.append(one)
        made += [attacker.dial(zmq.DEALER) for _ in range(8)]
        time.sleep(0.1)
        for one in made:
            one.close(linger=0)


# Floods. Without limits in the reducer they cost it gigabytes.


def large_greetings(attacker: Attacker) -> None:
    """Join requests with names, groups and feedbacks of a megabyte."""
    dealer, _ = attacker.introduce()
    large = [
        {"name": "n" * 1_000_000},
        {"groups": ["g"] * 180_000},
        {"groups": ["g" * 100_000] * 9},
        {"feedbacks": ["f@workers(default)"] * 40_000},
        {"groups": [f"{number:0128}" for number in range(4096)]},
    ]
    frames = [wire.to_reducer(attacker.loop, join(attacker.dice, **change)) for change in large]
    attacker.start_clock()
    while attacker.goes_on:
        for frame in frames:
            attacker.send(dealer, frame)
        attacker.listen(dealer)


def multipart(attacker: Attacker) -> None:
    """One message whose parts never end, to each socket; ZeroMQ itself would not send it."""
    kinds = [b"DEALER", b"SUB", b"PUSH"]
    part = bytes(64 << 10)
    made: list = [None] * 3
    while attacker.goes_on:
        for offset in range(3):
            if made[offset] is None:
                made[offset] = attacker.zmtp(offset, kinds[offset])
            elif not attacker.write(made[offset].one, made[offset].message(part, more=True)):
                made[offset] = None


def unread(attacker: Attacker) -> None:
    """Questions whose answers are never read."""
    sockets = [attacker.dial(zmq.DEALER, rcvhwm=1, rcvbuf=4096) for _ in range(8)]
    frames = [wire.to_reducer(attacker.loop, wire.StateWanted(0, 0, 0, "", None))]
    frames.append(wire.to_reducer(attacker.loop, wire.StatusWanted()))
    while attacker.goes_on:
        for one in sockets:
            attacker.send(one, attacker.dice.choice(frames), zmq.NOBLOCK)


def subscription_flood(attacker: Attacker) -> None:
    """Subscriptions without end, of which all are different."""
    one = attacker.dial(zmq.XSUB, 1)
    width = attacker.dice.choice([27, 400])
    while attacker.goes_on:
        attacker.send(one, b"\x01" + attacker.dice.randbytes(width))


def large_topics(attacker: Attacker) -> None:
    """Topics of a megabyte, which ZeroMQ itself would send as commands."""
    while attacker.goes_on:
        made = attacker.zmtp(1, b"SUB")
        if made:
            for _ in range(10):
                topic = b"\x01" + attacker.dice.randbytes(8) + bytes(1_000_000)
                if not attacker.write(made.one, made.message(topic)):
                    break
        if len(attacker.raw) > 50:
            attacker.raw.pop(0).close()


def boxes(attacker: Attacker) -> None:
    """With a key: messages that are sealed wrongly, twice, or have numbers of their own; without one, commands of all kinds."""
    dice = attacker.dice
    while attacker.goes_on:
        offset = dice.randrange(3)
        made = attacker.zmtp(offset, [b"DEALER", b"SUB", b"PUSH"][offset])
        if made is None:
            continue
        for _ in range(dice.randrange(1, 8)):
            whole = made.message(wire.to_reducer(attacker.loop, wire.StatusWanted()))
            made.nonce = dice.choice([made.nonce, made.nonce, 0, 2**63, 2**64 - 8])
            name = dice.choice([b"PING", b"ERROR", b"HELLO", b"INITIATE", b"SUBSCRIBE", b"MESSAGE", dice.randbytes(9)])
            data = dice.choice(
                [whole, mutated(dice, whole), whole + whole, command(name, dice.randbytes(dice.randrange(300)))]
            )
            if not attacker.write(made.one, data):
                break
        if len(attacker.raw) > 50:
            attacker.raw.pop(0).close()


def upstream(attacker: Attacker) -> None:
    """Messages that are no subscriptions, to PUB."""
    one = attacker.dial(zmq.XSUB, 1)
    data = bytes(400)
    while attacker.goes_on:
        attacker.send(one, b"\x02" + data)


def sessions(attacker: Attacker) -> None:
    """Join requests of peers that are new each time."""
    dealer, _ = attacker.introduce()
    while attacker.goes_on:
        attacker.send(dealer, wire.to_reducer(attacker.loop, join(attacker.dice)))
        attacker.listen(dealer)


def connections(attacker: Attacker) -> None:
    """Connections that speak ZMTP and stay."""
    import resource

    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    while attacker.goes_on:
        offset = len(attacker.raw) % 3
        made = attacker.zmtp(offset, [b"DEALER", b"SUB", b"PUSH"][offset])
        if made is None:
            time.sleep(0.1)
        attacker.sent += 1
    while time.monotonic() < attacker.end:
        time.sleep(0.1)


def large_messages(attacker: Attacker) -> None:
    """Messages of a megabyte, below and above the limit."""
    sockets = [attacker.dial(zmq.DEALER), attacker.dial(zmq.PUSH, 2)]
    while attacker.goes_on:
        for one in sockets:
            attacker.send(one, bytes(attacker.dice.choice([1_000_000, 1 << 20, (1 << 20) + 1, 4 << 20])))


ATTACKS = {
    attack.__name__.replace("_", "-"): attack
    for attack in [
        handshakes, garbage, half_open, wrong_types, mutations, nested, extremes, greetings, lies, forged_batches, subscriptions,
        routing_ids, boxes, large_greetings, multipart, unread, subscription_flood, large_topics, upstream, sessions, connections,
        large_messages,
    ]
}  # fmt: skip


def attack(name: str, address: Address, count: int, least: int, seconds: float, seed: int) -> dict:
    """Runs one attack to its end, and says what was sent."""
    attacker = Attacker(address, count, least, seconds, seed)
    try:
        ATTACKS[name](attacker)
    except PeerRefused as refusal:
        attacker.refused[str(refusal)] = 1
    finally:
        attacker.close()
    return {"attack": name, "seed": seed} | attacker.report()
