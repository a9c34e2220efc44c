"""Attacks a reducer by several processes at once, and measures what a well-behaved peer notices.

The attackers run when a processor is idle, and the peer runs before all others: as if each were on a machine of its own. They share
this one nevertheless, and its kernel lets nobody in while it works for them. So a neighbour tells how much of what a peer notices is
the machine: a second reducer, which nobody attacks, with a peer of the same behaviour at the same time. The reducers may use all
processors, as in production: their threads for connections need not wait for the one that decides.
"""

import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

import cbor2

from reducer import Reducer
from sender import Sender

RSS_MAX_MB, P99_GROWTH_MAX = 256, 3
# Who is believed that the journal has lost records stops the reducer, as it should: a key about its own session, and without
# keys everyone. (docs/security.md, "What is not")
BELIEVED = {False: {"greetings", "lies"}, True: {"lies"}}
EVENT = cbor2.dumps({"hold": {"count": 0}}, canonical=True)


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)] if ordered else float("inf")


class Target(Reducer):
    """A reducer of the ledger, its memory, and a well-behaved peer."""

    def __init__(self, programs: str, folder: str, port: int, keys: bool):
        self.name = "with keys" if keys else "without keys"
        os.makedirs(f"{folder}/pages")
        roles = {"honest": "sender", "attacker": "sender", "admin": "admin"} if keys else None
        super().__init__(programs, folder, "ledger", f"tcp://127.0.0.1:{port}", f"{folder}/pages", keys=roles)
        self.rss_max = 0.0
        # The attacks that ran when it had most.
        self.rss_max_during: list[str] = []
        self.attacks_running: list[str] = []
        self.round_trips: list[float] = []
        self.is_over = False
        self.unanswered = ""

    def sample(self) -> None:
        """The memory, once a second."""
        while not self.is_over:
            try:
                with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
                    pages = int(file.read().split()[1])
            except (OSError, IndexError):
                return
            megabytes = pages * os.sysconf("SC_PAGE_SIZE") / 2**20
            if megabytes > self.rss_max:
                self.rss_max, self.rss_max_during = megabytes, sorted(self.attacks_running)
            time.sleep(1)

    def behave(self) -> None:
        """One event at a time, fifty a second; each waits for its outcome."""
        # Its own machine would have a processor for it, and its process would do nothing else.
        sys.setswitchinterval(0.0002)
        try:
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), -15)
        except PermissionError:
            print("not as root: the well-behaved peer shares the processors with the reducer", file=sys.stderr)
        sender = Sender(self.address("honest"), itertools.repeat(EVENT), at_once=1, pause=0.02)
        sender.round_trips = self.round_trips
        try:
            while not self.is_over:
                sender.turn(0.005)
        except Exception as error:
            self.unanswered = repr(error)

    def watch(self) -> None:
        """Watches the memory and lets the peer behave, from its first answer on."""
        self.helpers = [threading.Thread(target=act) for act in (self.sample, self.behave)]
        for helper in self.helpers:
            helper.start()
        began = time.monotonic()
        while not self.round_trips and time.monotonic() - began < 20:
            time.sleep(0.1)

    def take_round_trips(self) -> list[float]:
        taken = list(self.round_trips)
        self.round_trips.clear()
        return taken

    def end(self) -> list[str]:
        """Ends the peer and the reducer. Returns what must not happen and did."""
        self.is_over = True
        for helper in self.helpers:
            helper.join()
        return [] if self.stop() else ["did not end within 20 s of SIGTERM"]

    def counters(self) -> dict:
        words = ["status", "--json", "--reducer", self.endpoint, *self.key_options("admin", "--reducer-key")]
        return json.loads(self.loopctl(*words))["counters"]


class Attackers:
    """Processes that attack in rotation, until enough was sent."""

    def __init__(self, target: Target, attacks: list[str], messages: int, processes: int):
        self.queue = itertools.cycle(attacks)
        self.target, self.messages, self.seed, self.sent = target, messages, 0, 0
        self.by_attack: dict[str, int] = {}
        self.round_trips: dict[str, list[float]] = {}
        self.failed: list[str] = []
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.work) for _ in range(processes)]

    def work(self) -> None:
        while self.sent < self.messages and self.target.process.poll() is None:
            with self.lock:
                name = next(self.queue)
                self.seed += 1
                seed = self.seed
                self.target.attacks_running.append(name)
            first = len(self.target.round_trips)
            words = [
                "chrt", "--idle", "0", sys.executable, "-B", os.path.dirname(os.path.abspath(__file__)), "attacker", name,
                "--reducer", self.target.endpoint, *self.target.key_options("attacker", "--server-key"),
                "--count", "200000", "--seconds", "10", "--seed", str(seed),
            ]  # fmt: skip
            try:
                done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
                sent = json.loads(done.stdout.splitlines()[-1])["sent"]
            except (subprocess.TimeoutExpired, IndexError, ValueError):
                self.failed.append(f"{name} --seed {seed}")
                sent = 0
            with self.lock:
                self.target.attacks_running.remove(name)
                self.sent += sent
                self.by_attack[name] = self.by_attack.get(name, 0) + sent
                self.round_trips.setdefault(name, []).extend(self.target.round_trips[first:])


def attack(target: Target, neighbour: Target, attacks: list[str], messages: int, processes: int, calm_seconds: float) -> list[str]:
    """Attacks a reducer until enough was sent. Returns what must not happen and did."""
    for one in (target, neighbour):
        one.watch()
    target.take_round_trips()
    time.sleep(calm_seconds)
    calm = target.take_round_trips()
    neighbour.take_round_trips()
    attackers = Attackers(target, attacks, messages, processes)
    began = time.monotonic()
    for thread in attackers.threads:
        thread.start()
    while any(thread.is_alive() for thread in attackers.threads):
        time.sleep(1)
        took = time.monotonic() - began
        print(f"{target.name}: {attackers.sent} hostile messages in {took:.0f} s", file=sys.stderr, flush=True)
    wrong = judge(target, neighbour, calm, attackers)
    return wrong + [f"the neighbour {line}" for line in neighbour.end()] + target.end()


def run(programs: str, attacks: list[str], messages: int, processes: int, calm_seconds: float) -> int:
    """Attacks a reducer without keys, and then one with keys, with half of the messages each.

    The verdict: 0 where nothing was noticed, 1 where something was.
    """
    wrong = []
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        for keys in (False, True):
            # Below the ports that the system gives to those who dial, of which an attack leaves thousands in use.
            port = 20_000 + os.getpid() % 12_000
            of = "keyed" if keys else "open"
            target = Target(programs, f"{folder}/{of}", port, keys)
            neighbour = Target(programs, f"{folder}/{of}-neighbour", port + 10, keys)
            for name in BELIEVED[keys].intersection(attacks):
                print(f"{target.name}: not run: {name}, which is believed and so stops the reducer")
            possible = [name for name in attacks if name not in BELIEVED[keys]]
            found = attack(target, neighbour, possible, messages // 2, processes, calm_seconds)
            wrong += [f"the reducer {target.name}: {line}" for line in found]
    for line in wrong:
        print(f"FAILED: {line}")
    print(f"{len(wrong)} checks failed")
    return 1 if wrong else 0


def judge(one: Target, neighbour: Target, calm: list[float], attackers: Attackers) -> list[str]:
    """Prints what happened, and returns what must not."""
    wrong = []
    print(f"{one.name}: {attackers.sent} hostile messages")
    for name, sent in sorted(attackers.by_attack.items()):
        during = attackers.round_trips[name]
        print(f"  {name}: {sent}; p99 {percentile(during, 0.99) * 1000:.1f} ms of {len(during)} events meanwhile")
    if attackers.sent < attackers.messages:
        wrong.append(f"only {attackers.sent} of {attackers.messages} hostile messages were sent")
    if attackers.failed:
        wrong.append(f"attackers that ended without a report: {', '.join(attackers.failed[:5])}")
    if one.process.poll() is not None:
        with open(f"{one.folder}/log", encoding="utf-8", errors="replace") as log:
            said = log.read().splitlines()[-1:]
        return [*wrong, f"it ended with {one.process.returncode}: {said}"]
    try:
        print(f"  counters: {json.dumps({name: n for name, n in one.counters().items() if n})}")
    except (subprocess.CalledProcessError, ValueError, KeyError) as error:
        wrong.append(f"no status: {error}")
    at_peace, beside, attacked = (percentile(times, 0.99) for times in (calm, neighbour.round_trips, one.round_trips))
    print(
        f"  at most {one.rss_max:.0f} MB, during {', '.join(one.rss_max_during) or 'no attack'}; p99 {at_peace * 1000:.1f} ms "
        f"before ({len(calm)} events), {attacked * 1000:.1f} ms under attack ({len(one.round_trips)}), {beside * 1000:.1f} ms at "
        f"the neighbour meanwhile ({len(neighbour.round_trips)})"
    )
    for name, peer in [("well-behaved peer", one), ("neighbour's peer", neighbour)]:
        if peer.unanswered:
            wrong.append(f"the {name} ended: {peer.unanswered}")
    if one.rss_max > RSS_MAX_MB:
        wrong.append(f"it had {one.rss_max:.0f} MB")
    if attacked >= P99_GROWTH_MAX * beside:
        wrong.append(f"the p99 of a well-behaved peer was {attacked / beside:.1f} times the neighbour's")
    return wrong
