"""What the specification answers to those who write a peer: each answer is tried at real reducers, and a wrong one is found."""

import contextlib
import dataclasses
import os
import subprocess
import tempfile
import time

import cbor2
import zmq
import zmq.utils.monitor

from loop_conform import wire
from cddl import Rules
from observer import Observer
from peer import SERVE, PeerRefused
from probe import Asker, Probe, Wrong, encoded, expect, wait
from reducer import Reducer
from zmtp import mechanism

BOOK, HOLD = "book@workers(default)", "hold@workers(holders)"
TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STALE, UNDECODABLE, HISTORY_CHANGED = 1, 3, 6
NEVER_AGAIN, HAS_DELAY = 1, 2


def deposit(number: int) -> dict:
    return {"deposit": {"number": number, "work": {"milliseconds": 0, "failures": 0}}}


class Bench:
    """Reducers, and the peers of one check."""

    def __init__(self, programs: str, folder: str, reducers: contextlib.ExitStack):
        self.programs, self.folder, self.pages = programs, folder, f"{folder}/pages"
        os.makedirs(self.pages)

        def start(name: str, *words: str, **more) -> Reducer:
            one = Reducer(programs, f"{folder}/{name}", *words, **more)
            reducers.callback(one.stop)
            return one

        # Its silence limit is longer than a start takes.
        self.ledger = start("ledger", "ledger", f"ipc://{folder}/leader", "--silence-limit", "10s", self.pages)
        self.todo = start("todo", "todo", "tcp://127.0.0.1:0")
        roles = {role: role for role in ("worker", "observer", "sender", "admin")}
        self.keyed = start("keyed", "ledger", "tcp://127.0.0.1:0", self.pages, keys=roles)
        self.stack = contextlib.ExitStack()
        self.deposits = 0

    def probe(self, reducer: Reducer, *feedbacks: str, groups=(), key: str | None = None, **more) -> Probe:
        one = Probe(reducer.address(key), feedbacks, groups, **more)
        self.stack.callback(one.close)
        self.stack.callback(lambda: one.leave() if one.phase == SERVE else None)
        return one

    def reducer(self, name: str, journal: str, *options: str) -> Reducer:
        """Another reducer of the ledger, for this check alone."""
        folder = f"{self.folder}/{name}"
        one = Reducer(self.programs, folder, "ledger", f"ipc://{folder}-socket", *options, self.pages, journal=journal)
        self.stack.callback(one.stop)
        return one

    def asker(self, reducer: Reducer, key: str | None = None, loop: str = "") -> Asker:
        return self.stack.enter_context(contextlib.closing(Asker(reducer.address(key), loop)))

    def observer(self, reducer: Reducer, **more) -> Observer:
        return self.stack.enter_context(contextlib.closing(Observer(reducer.address(), **more)))

    def booking(self) -> dict:
        """A deposit with a number of its own."""
        self.deposits += 1
        return deposit(self.deposits)


# The checks, in the order of the table at the end.


def grants(bench: Bench) -> None:
    """Only effects of feedbacks that the join request lists, with that placement, in groups that it names."""
    idle = [
        bench.probe(bench.ledger, HOLD, groups=["default", "holders"]),
        bench.probe(bench.ledger, "book@workers(gpu)", "book@local", groups=["default"]),
        bench.probe(bench.ledger, groups=["default"]),
    ]
    for one in idle:
        one.serve()
    idle[0].apply(bench.booking())
    idle[0].apply({"hold": {"count": 1}})
    idle[0].granted("hold")
    rightful = bench.probe(bench.ledger, BOOK, groups=["default"])
    wait("a grant to the peer that lists the feedback", lambda: rightful.of("book"), rightful, *idle)
    expect(not idle[0].of("book") and not idle[1].running and not idle[2].running, "an effect of a feedback that is not listed is granted")
    rightful.apply({"hold": {"count": 0}})


def groups(bench: Bench) -> None:
    """A worker without groups is granted nothing, whatever else it names."""
    without = bench.probe(bench.ledger, BOOK).serve()
    without.apply(bench.booking())
    rightful = bench.probe(bench.ledger, BOOK, groups=["default"])
    wait("a grant to the peer with a group", lambda: rightful.of("book"), rightful, without)
    expect(not without.running, "a worker without groups is granted an effect")


def failing(bench: Bench) -> None:
    """The reducer makes the event of a last failure, of at most 1,000 scalars of the message."""
    worker = bench.probe(bench.todo, "sync@workers(default)", groups=["default"]).serve()
    asker = bench.asker(bench.todo)
    for title, flags, tries in [("no retry can help", NEVER_AGAIN, 1), ("the tries are used up", 0, 3)]:
        worker.apply({"typeTitle": {"_0": title}})
        worker.apply({"add": {}})
        for _ in range(tries):
            grant = worker.granted("sync")
            worker.fail(grant, flags, 0, "é" * 1500)
        expect(grant.failures == tries - 1, f"{grant.failures} failures before the last of {tries} tries")
        row = asker.state()["rows"][-1]
        failed = row["sync"].get("failed", {}).get("_0", "")
        expect(row["item"]["title"] == title and failed.count("é") == 1000, f"{title}: {row}")
        last = asker.records(asker.status()["seq"])[-1]
        expect("syncFailed" in cbor2.loads(last["event"]) and last["session"] == worker.session, f"{title}: {last}")


def values(bench: Bench) -> None:
    """The table of 9.4: its vectors, a loop's own examples, and events in every well-formed encoding."""
    expected = {
        "an enum of raw strings": "hearts", "an enum of raw integers": 2, "a case without values": {"reset": {}},
        "a case with a value": {"put": {"_0": 1}}, "a case with labels": {"move": {"from": 1, "to": 2}},
        "a case with two values": {"name": {"_0": "a", "_1": 1}}, "a struct with a property that is nil": {"t": "M"},
        "[Int?]": [1, None], "[UInt8]": b"\x01\x02", "Data": [1, 2], "Double 1.0": 1.0, "Set<String>": ["a", "b", "aa"],
        "Double NaN": float("nan"), "[Int??]": [[1], [None], None], "a property of Int??, with nil inside": {"deep": None},
        "Decimal 2.5": {"exponent": -1, "length": 1, "isNegative": False, "isCompact": True, "mantissa": [25, 0, 0, 0, 0, 0, 0, 0]},
        "[Int: String]": {9: "a", 10: "b"}, "Date": 1.5, "URL": {"relative": "https://example.org/a"},
        "UUID": "00112233-4455-6677-8899-AABBCCDDEEFF", "Float 0.1": 0.10000000149011612, "Double 0.1": 0.1,
    }  # fmt: skip
    with open(f"{TESTS}/CBORTests/Vectors/swift-values.txt", encoding="utf-8") as file:
        vectors = dict(line.strip().rsplit("; ", 1) for line in file if not line.startswith("#"))
    for name, value in expected.items():
        expect(encoded(value).hex() == vectors[name], f"{name}: {encoded(value).hex()}")
    schema = bench.asker(bench.todo).ask({"schema": {}})["schema"]["_0"]
    examples = [cbor2.loads(one) for one in schema["eventExamples"]]
    for one in [{"rename": {"_0": 1, "_1": "oat milk"}}, {"add": {}}]:
        expect(one in examples, f"{one} is none of {examples}")
    for value, data in zip(examples, schema["eventExamples"]):
        expect(encoded(value) == data, f"{value} is {data.hex()}")

    count, event = encoded("count"), lambda inner: b"\xa1" + encoded("hold") + inner  # noqa: E731
    long = event(b"\xbf" + b"\x7f\x62co\x63unt\xff" + b"\x1b" + bytes(8) + encoded("new") + b"\xf6\xff")
    wrong = {
        "two keys": event(b"\xa2" + (count + b"\x00") * 2), "UTF-8": event(b"\xa2\x61\xff\x00" + count + b"\x00"),
        "67 levels": event(b"\xa2\x61x" + b"\x81" * 65 + b"\x00" + count + b"\x00"), "more": event(b"\xa1" + count + b"\x00") + b"\x00",
        "a text": event(b"\xa1" + count + b"\x610"),
    }  # fmt: skip
    probe = bench.probe(bench.ledger).serve()
    expect(probe.settle(probe.post(long))[0] == 0, "a well-formed encoding that is not deterministic is refused")
    for name, data in wrong.items():
        code = probe.settle(probe.post(data))[0]
        expect(code == UNDECODABLE, f"an event with {name}: code {code}")


def documents(bench: Bench) -> None:
    """Status, and the answers to all requests but those that change a journal: no field is missing, or not in loop.cddl."""
    with open(f"{os.path.dirname(TESTS)}/docs/spec/loop.cddl", encoding="utf-8") as file:
        rules = Rules(file.read())
    worker = bench.probe(bench.ledger, BOOK, groups=["default"], capacity=2).serve()
    for _ in range(2):
        worker.apply(bench.booking())
    parked = worker.granted("book")
    worker.fail(parked, NEVER_AGAIN, 0, "it is broken")
    grant = worker.granted("book")
    report = wire.Report(grant.effect, grant.attempt, 5000, "half")
    worker.tell(wire.Progress(worker.session, worker.epoch, [report]))
    asker = bench.asker(bench.ledger)
    wait("the report", lambda: "effectReports" in asker.status(), worker)
    status = asker.status()
    expect(status["effectReports"][0]["fraction"] == 0.5, f"{status['effectReports']}")
    standby = bench.asker(bench.reducer("standby", f"{bench.ledger.folder}/journal", "--standby"), loop="ledger")
    wait("a standby that follows", lambda: {"leader", "following"} <= standby.status().keys(), worker)
    follows = standby.status()
    expect(follows["role"] == "standby" and not follows["isReady"] and follows["following"]["lag"] >= 0, f"{follows}")
    redirect = standby.exchange(wire.Hello("ledger", 0))[1]
    expect(redirect == wire.Redirect(bench.ledger.endpoint) == wire.Redirect(follows["leader"]), f"{redirect}")
    flaws = [rules.flaw(("name", "status"), one, "status") for one in (status, follows)]
    name = f"{parked.effect.feedback}.{parked.effect.seq}.{parked.effect.index}"
    who = "a check"
    requests = [
        ({"effects": {"_0": {"max": 10}}}, "effects"), ({"effects": {"_0": {"max": 1, "effect": name, "state": "parked"}}}, "effects"),
        ({"quarantine": {}}, "quarantine"), ({"schedules": {}}, "schedules"), ({"schema": {}}, "schema"),
        ({"origin": {"of": 1}}, "origin"), ({"origin": {"of": 1, "step": True}}, "origin"),
        ({"state": {"outline": {"from": 0, "max": 3}}}, "state"), ({"history": {"from": 0, "filter": {"text": "deposit", "max": 3}}}, "history"),
        ({"origin": {"of": 0}}, "refused"),
        ({"changes": {"of": {"path": ["open"]}, "max": 2}}, "changes"), ({"changes": {"of": {"path": ["none"]}, "max": 2}}, "refused"),
        ({"verify": {}}, "verified"), ({"history": {"from": 1}}, "history"), ({"history": {"from": 1, "through": 2, "after": 1}}, "history"),
        ({"state": {}}, "state"), ({"state": {"at": 1, "part": {"path": ["open", "1"]}}}, "state"),
        *(({"explain": {"event": event}}, "explained") for event in (encoded({"hold": {"count": 1, "new": 1}}), b"\xa0")),
        ({"retryParked": {"effect": name, "who": who}}, "done"), ({"retryParked": {"effect": name, "who": who}}, "refused"),
        ({"trim": {"before": 0}}, "done"), ({"stepDown": {"takesSnapshot": False, "who": who}}, "refused"),
        *(({verb: {"id": 1, "who": who}}, "refused") for verb in ("retryQuarantined", "dropQuarantined")),
        *(({verb: {"name": "none", "who": who}}, "refused") for verb in ("pauseSchedule", "resumeSchedule", "runSchedule")),
        ({"quarantined": {"id": 1}}, "refused"),
    ]  # fmt: skip
    records = asker.records(1)
    page = asker.ask({"history": {"from": 1, "after": records[0]["position"]}})["history"]["_0"]["records"]
    expect([one["position"] for one in page] == [one["position"] for one in records][1:], f"after {records[0]}: {page[0]}")
    for request, kind in requests:
        flaws.append(rules.flaw(("name", "request"), request, "request"))
        answer = asker.ask(request)
        expect(isinstance(answer, dict) and list(answer) == [kind], f"{request}: {answer}")
        flaws.append(rules.flaw(("name", "answer"), answer, kind))
    expect(not any(flaws), f"{[flaw for flaw in flaws if flaw]}")


def idempotency(bench: Bench) -> None:
    """Our worker writes the key of the effect that a grant names: LOOP/HISTORY/FEEDBACK.SEQ.INDEX."""
    probe = bench.probe(bench.ledger, BOOK, groups=["default"], capacity=1).serve()
    probe.apply(bench.booking())
    grant = probe.granted("book")
    page = f"{bench.pages}/{cbor2.loads(grant.request)['deposit']}"
    effect = grant.effect
    key = f"ledger/{probe.history:016x}/{effect.feedback}.{effect.seq}.{effect.index}"
    probe.capacity = 0
    probe.heartbeat(time.monotonic())
    probe.finish(grant, wire.RELEASED)
    words = [f"{bench.programs}/loop-effect", "ledger", "--reducer", bench.ledger.endpoint]
    worker = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait("a page", lambda: os.path.exists(page) and os.path.getsize(page), probe)
    finally:
        worker.terminate()
        worker.wait()
    with open(page, encoding="utf-8") as file:
        written = file.read().split()[0]
    expect(written == key, f"our worker has the key {written}, and not {key}")


AUTH, PROTOCOL, NO_DETAIL = (getattr(zmq, f"EVENT_HANDSHAKE_FAILED_{why}") for why in ("AUTH", "PROTOCOL", "NO_DETAIL"))


def handshakes(bench: Bench) -> None:
    """Refusals by key are events of the socket's monitor, never messages, and the greeting names the mechanism."""
    expect((mechanism(bench.keyed.endpoint), mechanism(bench.todo.endpoint)) == ("CURVE", "NULL"), "another mechanism in a greeting")
    elsewhere = f"{bench.keyed.keys}-of-others"
    bench.keyed.loopctl("keygen", elsewhere, "server", "--role", "reducer")
    ours, other = (zmq.auth.load_certificate(f"{folder}/server.key")[0] for folder in (bench.keyed.keys, elsewhere))
    # Whether the reason for the end of a connection is read is a matter of chance if the mechanisms differ.
    differ = {(PROTOCOL, zmq.PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH), (NO_DETAIL, None)}
    for reducer, keys, server, allowed in [
        (bench.keyed, f"{elsewhere}/server.key_secret", ours, {(AUTH, 400)}),
        (bench.keyed, None, None, differ), (bench.todo, bench.keyed.secret("worker"), ours, differ),
        (bench.keyed, bench.keyed.secret("worker"), other, {(NO_DETAIL, None)}),
    ]:  # fmt: skip
        context = zmq.Context()
        dealer = context.socket(zmq.DEALER)
        dealer.linger = 0
        if keys:
            dealer.curve_publickey, dealer.curve_secretkey = zmq.auth.load_certificate(keys)
            dealer.curve_serverkey = server
        monitor = dealer.get_monitor_socket(AUTH | PROTOCOL | NO_DETAIL)
        dealer.connect(reducer.endpoint)
        dealer.send(wire.to_reducer(0, wire.StatusWanted()))
        heard = []
        # After a failure without detail the library tries again, and after another one it does not.
        while len(heard) < 3 and monitor.poll(1000 if heard and heard[-1][0] != NO_DETAIL else 10_000):
            one = zmq.utils.monitor.recv_monitor_message(monitor)
            heard.append((one["event"], None if one["event"] == NO_DETAIL else one["value"]))
        is_told = bool(dealer.poll(0))
        context.destroy(linger=0)
        expect(bool(heard) and set(heard) <= allowed and not is_told, f"{heard} instead of {allowed}; {'an' if is_told else 'no'} answer")
        expect(all(event == NO_DETAIL for event, _ in heard[:-1]), f"the library tries again after {heard}")
        expect(len(heard) == 3 or heard[-1][0] != NO_DETAIL, f"the library does not try again after {heard}")


def questions(bench: Bench) -> None:
    """Busy and refused name their question, and end nothing else."""
    probe, asker = bench.probe(bench.ledger).serve(), bench.asker(bench.ledger, loop="ledger")
    join = probe.said_of(wire.Join)[-1]
    state = wire.StateWanted.verb
    for message, loop, question, what in [
        (wire.StateWanted(12345, 3, 0, "", None), "ledger", (state, 12345), None),
        (wire.StateWanted(0, 0, 0, "no such section", None), "ledger", (state, 0), "section"),
        (wire.Hello("todo", 0), "todo", (wire.Hello.verb, 0), "loop"),
        (dataclasses.replace(join, peer=os.urandom(16), session=0, schema=999), "ledger", (wire.Join.verb, 0), "schema"),
        (dataclasses.replace(join, peer=os.urandom(16), session=0, groups=["(local)"]), "ledger", (wire.Join.verb, 0), "placement"),
    ]:  # fmt: skip
        answer = asker.exchange(message, loop)[1]
        is_right = isinstance(answer, wire.Refused) and wire.REFUSED[answer.what] == what if what else isinstance(answer, wire.Busy)
        expect(is_right and (answer.to.verb, answer.to.id) == question, f"{message}: {answer}")
    asker.dealer.send(wire.to_reducer(asker.loop, wire.Hello("ledger", 0), version=2))
    answer = asker.next()[1]
    expect(answer.to == wire.Question(0, 0) and wire.REFUSED[answer.what] == "version", f"{answer}")
    probe.apply({"hold": {"count": 0}})
    many = bench.asker(bench.todo, loop="todo")
    for _ in range(17):
        many.tell(dataclasses.replace(join, peer=os.urandom(16), session=0, history=0, epoch=wire.Epoch(0, 0), watermark=0))
    busy = many.next()[1]
    expect(isinstance(busy, wire.Busy) and busy.to == wire.Question(wire.Join.verb, 0) and bool(busy.reason), f"{busy}")
    answer = bench.asker(bench.keyed, "sender").ask({"schedules": {}})
    expect(list(answer) == ["refused"] and "admin" in answer["refused"]["_0"], f"{answer}")
    for name, act in [
        ("a batch", lambda one: one.post(encoded({"hold": {"count": 0}}))),
        ("a subscription", lambda one: one.subscriber.subscribe(wire.states(one.loop))),
    ]:  # fmt: skip
        worker = bench.probe(bench.keyed, key="worker").serve()
        act(worker)
        try:
            wait(f"the refusal of {name}", lambda: False, worker)
        except PeerRefused as error:
            refusal = worker.heard_of(wire.Refused)[-1]
            expect(refusal.to == wire.Question(0, 0) and str(error).startswith("role"), f"{refusal}")


def fingerprints(bench: Bench) -> None:
    """The lines are sorted by their bytes; the join request may have them in any order."""
    mine = wire.fingerprint("ledger", 1, [HOLD, BOOK])
    expect(mine == 0xFA117E1E5A161EBE, f"{mine:016x}")
    for feedbacks in ([HOLD, BOOK], [BOOK, HOLD]):
        probe = bench.probe(bench.ledger, *feedbacks, groups=["gpu"], loop="ledger", schema=1).serve()
        expect(probe.introduction.fingerprint == mine == probe.said_of(wire.Join)[0].fingerprint, "another fingerprint")
    other = bench.probe(bench.ledger, HOLD, groups=["gpu"], loop="ledger", schema=1)
    try:
        other.serve()
    except PeerRefused as error:
        return expect(str(error).startswith("definition"), str(error))
    raise Wrong("another definition is let in")


def observers(bench: Bench) -> None:
    """An observer needs no join; its first subscription makes the reducer publish the state, although nothing has changed."""
    observer = bench.observer(bench.ledger, interval=7)
    seq = bench.asker(bench.ledger).status()["seq"]
    wait("the state, published and fetched", lambda: observer.updated and observer.seq == seq, observer)
    status = bench.asker(bench.ledger).status()
    expect(status["peers"] == [], f"an observer has a session: {status['peers']}")
    probe = bench.probe(bench.ledger).serve()
    seq = probe.apply({"hold": {"count": 0}})
    wait("the next state", lambda: observer.seq == seq, observer)


def epochs(bench: Bench) -> None:
    """A frame of a newer epoch or of another history makes a peer join, over the sockets that it has, without another hello."""
    forgetful = bench.reducer("forgetful", "memory", "--silence-limit", "10s")
    for reducer, keeps_history in [(bench.ledger, True), (forgetful, False)]:
        probe = bench.probe(reducer).serve()
        probe.apply({"hold": {"count": 0}})
        session, history, epoch = probe.session, probe.history, probe.epoch
        hellos = len(probe.said_of(wire.Hello))
        # This entry leaves, and does not arrive before the end.
        probe.loses = lambda first: True
        number = probe.post(encoded({"hold": {"count": 0}}))
        probe.turn()
        probe.loses = lambda first: False
        reducer.stop()
        reducer.start()
        code, _ = probe.settle(number)
        wait("the next epoch", lambda: probe.phase == SERVE and probe.epoch != epoch, probe)
        expect(len(probe.said_of(wire.Hello)) == hellos, "it said hello again")
        if keeps_history:
            same = (probe.session, probe.history) == (session, history)
            expect(same and probe.epoch.number == epoch.number + 1 and code == 0, f"code {code}, session {probe.session}, {probe.epoch}")
        else:
            expect(probe.history != history and code == HISTORY_CHANGED, f"code {code}, {probe.epoch}")
        probe.apply({"hold": {"count": 0}})


def current(bench: Bench) -> None:
    """The seq of an answer to `status?` is not below what was acknowledged before the question."""
    probe, observer = bench.probe(bench.ledger).serve(), bench.observer(bench.ledger)
    for count in (3, 2, 1, 0):
        seq = probe.apply({"hold": {"count": count}})
        expect(observer.run_until_current(10) and observer.seq >= seq, f"the state at {observer.seq} is not current at {seq}")
        expect(cbor2.loads(observer.state)["held"] == count, "an older state")


def subscriptions(bench: Bench) -> None:
    """A subscription that is not allowed is repeated by the library, until the peer closes its SUB."""
    asker, address = bench.asker(bench.keyed, "admin"), bench.keyed.address("sender")
    introduction = bench.asker(bench.keyed, "sender").exchange(wire.Hello("ledger", 0), "ledger")[1]
    answer = bench.asker(bench.keyed, "sender").exchange(wire.StateWanted(0, 0, 0, "", None), "ledger")[1]
    expect(isinstance(answer, wire.Refused) and wire.REFUSED[answer.what] == "role", f"{answer}")
    count = lambda: asker.status()["counters"].get("subscriptionRefused", 0)  # noqa: E731
    context = zmq.Context()
    subscriber = address.socket(context, zmq.SUB, address.other(introduction.publisher))
    subscriber.subscribe(wire.states(wire.loop_id("ledger")))
    before, end = count(), time.monotonic() + 15
    while count() < before + 5:
        # The library subscribes again while its socket is read.
        expect(not subscriber.poll(100), "it is told what is not for it")
        expect(time.monotonic() < end, f"{count() - before} subscriptions were refused in 15 s")
    subscriber.close()
    context.term()
    # What was under way is counted; from then on it rests.
    after = count()
    time.sleep(0.5)
    expect(count() <= after + 1, f"{count() - after} subscriptions more, although the SUB is closed")


def acceptances(bench: Bench) -> None:
    """A join acceptance that is repeated has the same session; behind the claim it changes nothing."""
    worker = bench.probe(bench.ledger, HOLD, groups=["holders"], capacity=2).serve()
    worker.apply({"hold": {"count": 1}})
    first = worker.granted("hold")
    join = worker.said_of(wire.Join)[-1]
    heard = len(worker.heard_of(wire.JoinAccepted))
    for _ in range(3):
        worker.tell(join)
    wait("another acceptance", lambda: len(worker.heard_of(wire.JoinAccepted)) > heard, worker)
    sessions = {header.session for header, message in worker.heard_all if isinstance(message, wire.JoinAccepted)}
    expect(sessions == {worker.session} and worker.phase == SERVE, f"sessions {sessions}")
    worker.apply({"hold": {"count": 2}})
    wait("another grant", lambda: len(worker.of("hold")) == 2, worker)
    expect(worker.running[first.effect] == first, "the first attempt was taken away")
    expect(worker.finish(first, wire.COMPLETED)[0] == 0, "the first attempt does not count any more")
    worker.apply({"hold": {"count": 0}})
    # One that leaves before its peer listens is lost, and comes again with the subscription.
    asker, peer = bench.asker(bench.ledger, loop="ledger"), os.urandom(16)
    asker.tell(dataclasses.replace(join, peer=peer, session=0, groups=[]))
    asker.status()
    subscriber = bench.ledger.address().socket(asker.context, zmq.SUB, worker.introduction.publisher)
    subscriber.subscribe(wire.inbox(worker.loop, peer))
    header = message = None
    while not isinstance(message, wire.JoinAccepted):
        expect(bool(subscriber.poll(15_000)), "no acceptance within 15 s of the subscription")
        header, message = wire.read_to_peer(wire.split_topic(subscriber.recv())[1])
    subscriber.close()
    expect(header.session > worker.session, f"session {header.session} for another peer")
    asker.tell(wire.Goodbye(header.session, peer, header.history))
    expect(isinstance(asker.next()[1], wire.GoodbyeHeard), "a goodbye is not heard")


def resending(bench: Bench) -> None:
    """The sender goes back when a tick says so, and when a tick repeats: after two intervals of the reducer's clock."""
    probe = bench.probe(bench.ledger).serve()
    probe.outbox.batch_entries = 1
    lost: list[int] = []
    went_back_at: list[int] = []

    def loses(first: int) -> bool:
        """Loses a doomed batch at the first time; the second time is noted by the reducer's clock."""
        if first in doomed and first in lost:
            went_back_at.append(probe.echo)
        is_lost = first in doomed and first not in lost
        lost.extend([first] if is_lost else [])
        return is_lost

    probe.loses = loses
    start = probe.outbox.newest
    doomed = {start + 1}
    for _ in range(3):
        probe.post(encoded({"hold": {"count": 0}}))
    probe.settle(start + 3)
    asked = [one for one in probe.heard_of(wire.Tick) if one.resend]
    expect(bool(asked) and asked[0].received == start, f"a gap, and the ticks {probe.heard_of(wire.Tick)}")
    doomed = {start + 4}
    before = len(probe.heard_of(wire.Tick))
    probe.post(encoded({"hold": {"count": 0}}))
    probe.settle(start + 4)
    ticks = [one for one in probe.heard_of(wire.Tick)[before:] if one.received == start + 3]
    expect(not any(one.resend for one in ticks) and probe.new_pushes == 0, f"{ticks}")
    took = (went_back_at[-1] - ticks[0].stamp) / 1e6
    expect(took >= 2 * probe.interval, f"it went back after {took:.0f} ms of ticks at {probe.interval} ms")


def delays(bench: Bench) -> None:
    """The next try is after the policy's delay, or the failure's, whichever is longer."""
    worker, asker = bench.probe(bench.ledger, BOOK, groups=["default"], capacity=1).serve(), bench.asker(bench.ledger)
    day = 86_400_000
    for flags, milliseconds, least, most in [
        (HAS_DELAY, 2000, 2000, 2000), (HAS_DELAY, 0, 25, 1000), (0, 0, 25, 1000), (HAS_DELAY, 2**64 - 1, day, day),
        (NEVER_AGAIN | HAS_DELAY, 2000, None, None),
    ]:  # fmt: skip
        worker.apply(bench.booking())
        grant = worker.granted("book")
        before = time.time() * 1000
        worker.fail(grant, flags, milliseconds, "it is broken")
        took = time.time() * 1000 - before
        name = f"{grant.effect.feedback}.{grant.effect.seq}.{grant.effect.index}"
        ended = [one for one in asker.records(grant.effect.seq) if one["kind"] == "attempt ended" and one["effect"] == name]
        expect(ended[-1]["attempt"] == f"{grant.attempt.epoch}/{grant.attempt.count}", f"{ended[-1]}")
        if least is None:
            expect("retryAt" not in ended[-1], f"{ended[-1]}")
            parked = [one["effect"] for one in asker.status()["parked"]]
            expect(name in parked, f"{name} is none of {parked}")
        else:
            waits = ended[-1]["retryAt"] - before
            expect(least - 1 <= waits <= most + took + 1, f"flags {flags}, {milliseconds} ms: it waits {waits} ms")


def cancels(bench: Bench) -> None:
    """After a cancel no end is expected, and the capacity is free; what comes nevertheless is skipped or stale."""
    worker = bench.probe(bench.ledger, HOLD, groups=["holders"], capacity=1).serve()
    worker.apply({"hold": {"count": 1}})
    grant = worker.granted("hold")
    worker.apply({"hold": {"count": 0}})
    wait("a cancellation", lambda: bool(worker.cancelled), worker)
    expect(worker.cancelled[-1] == wire.Cancel(grant.effect, grant.attempt), f"{worker.cancelled}")
    worker.apply({"hold": {"count": 1}})
    expect(worker.granted("hold").effect != grant.effect, "the cancelled effect again")
    expect(worker.finish(grant, wire.EVENT, encoded(deposit(1)))[0] == STALE, "an event of a cancelled effect counts")
    expect(worker.finish(grant, wire.COMPLETED)[0] == 0, "the end of a cancelled effect is refused")
    worker.apply({"hold": {"count": 0}})


def ports(bench: Bench) -> None:
    """The introduction names PUB and PULL: a port of the dialled host over TCP, an endpoint over anything else."""
    named = bench.asker(bench.ledger).exchange(wire.Hello("ledger", 0), "ledger")[1]
    expect((named.publisher, named.collector) == (f"{bench.ledger.endpoint}.pub", f"{bench.ledger.endpoint}.pull"), f"{named}")
    port = int(bench.todo.endpoint.rpartition(":")[2])
    named = bench.asker(bench.todo).exchange(wire.Hello("todo", 0), "todo")[1]
    expect(named.publisher.isdecimal() and named.collector.isdecimal(), f"{named}")
    expect(len({port, int(named.publisher), int(named.collector)}) == 3, f"{port} and {named}")
    # Only through these ports can it be admitted and heard.
    bench.probe(bench.todo).serve().apply({"syncAgain": {}})


CHECKS = [
    (1, "what limits grants", grants), (2, "who makes the event of a last failure", failing), (3, "how values are encoded", values),
    (4, "the fields of status, questions and answers", documents), (5, "a join without groups", groups),
    (6, "the idempotency key", idempotency), (7, "refusals by key", handshakes), (8, "what busy and refused answer", questions),
    (9, "the order of feedbacks in the fingerprint", fingerprints), (10, "what an observer hears before a join", observers),
    (11, "join or hello in a new epoch", epochs), (12, "the question for a current state", current),
    (13, "a subscription that is refused", subscriptions), (14, "repeated acceptances", acceptances),
    (15, "when to send again", resending), (16, "a failure's delay against the policy's", delays),
    (17, "the end of a cancelled effect", cancels), (18, "ports that the system chooses", ports),
]  # fmt: skip


def run(programs: str, only: list[int]) -> int:
    """Prints a line for each check; 1 where an answer is wrong."""
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="answers-") as folder, contextlib.ExitStack() as reducers:
        bench = Bench(programs, folder, reducers)
        for number, question, check in CHECKS:
            if only and number not in only:
                continue
            began, verdict = time.monotonic(), "right"
            try:
                with bench.stack:
                    check(bench)
            except (Wrong, PeerRefused) as error:
                verdict, wrong = f"WRONG: {error}", wrong + 1
            print(f"{number} {question}: {verdict} ({time.monotonic() - began:.1f} s)", flush=True)
    return 1 if wrong else 0
