"""Attacks reducers by several processes at once, and measures what a well-behaved peer notices."""

import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

import cbor2

from address import Address
from sender import Sender

RSS_MAX_MB, P99_GROWTH_MAX = 256, 3
EVENT = cbor2.dumps({"hold": {"count": 0}}, canonical=True)


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)] if ordered else float("inf")


class Target:
    """A reducer of the ledger, its memory, and a well-behaved peer."""

    def __init__(self, programs: str, folder: str, port: int, keys: bool):
        self.programs, self.name = programs, "with keys" if keys else "without keys"
        self.endpoint = f"tcp://127.0.0.1:{port}"
        self.folder = f"{folder}/{'keyed' if keys else 'open'}"
        os.makedirs(f"{self.folder}/pages")
        self.keys = f"{self.folder}/keys" if keys else None
        if keys:
            for name, role in [("server", "reducer"), ("honest", "sender"), ("attacker", "sender"), ("admin", "admin")]:
                self.loopctl("keygen", self.keys, name, "--role", role)
        with open(f"{self.folder}/log", "wb") as log:
            self.process = subprocess.Popen(
                [f"{programs}/loop-reducer", "ledger", "--bind", self.endpoint, "--journal", f"{self.folder}/journal",
                 *(["--keys", self.keys] if keys else []), f"{self.folder}/pages"], stdout=log, stderr=log,
            )  # fmt: skip
        self.rss_max = 0.0
        self.round_trips: list[float] = []
        self.is_over = False
        self.unanswered = ""

    def loopctl(self, *words: str) -> str:
        return subprocess.run([f"{self.programs}/loopctl", *words], check=True, capture_output=True, text=True).stdout

    def key_options(self, name: str, server: str) -> list[str]:
        return ["--key", f"{self.keys}/{name}.key_secret", server, f"{self.keys}/server.key"] if self.keys else []

    def sample(self) -> None:
        """The memory, once a second."""
        while not self.is_over:
            try:
                with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
                    pages = int(file.read().split()[1])
            except (OSError, IndexError):
                return
            self.rss_max = max(self.rss_max, pages * os.sysconf("SC_PAGE_SIZE") / 2**20)
            time.sleep(1)

    def behave(self) -> None:
        """One event at a time, fifty a second; each waits for its outcome."""
        secret = f"{self.keys}/honest.key_secret" if self.keys else None
        address = Address(self.endpoint, secret, f"{self.keys}/server.key" if self.keys else None)
        sender = Sender(address, itertools.repeat(EVENT), at_once=1, pause=0.02)
        sender.round_trips = self.round_trips
        try:
            while not self.is_over:
                sender.turn(0.005)
        except Exception as error:
            self.unanswered = repr(error)

    def counters(self) -> dict:
        words = ["status", "--json", "--reducer", self.endpoint, *self.key_options("admin", "--reducer-key")]
        return json.loads(self.loopctl(*words))["counters"]


class Attackers:
    """Processes that attack in rotation, until enough was sent."""

    def __init__(self, targets: list[Target], attacks: list[str], messages: int, processes: int):
        self.queue = itertools.cycle([(name, target) for name in attacks for target in targets])
        self.messages, self.seed, self.sent = messages, 0, 0
        self.by_attack: dict[str, int] = {}
        self.failed: list[str] = []
        self.lock = threading.Lock()
        self.targets = targets
        self.threads = [threading.Thread(target=self.work) for _ in range(processes)]

    def work(self) -> None:
        while self.sent < self.messages and all(one.process.poll() is None for one in self.targets):
            with self.lock:
                name, target = next(self.queue)
                self.seed += 1
                seed = self.seed
            words = [
                "nice", sys.executable, "-B", os.path.dirname(os.path.abspath(__file__)), "attacker", name, "--reducer",
                target.endpoint, *target.key_options("attacker", "--server-key"), "--count", "200000", "--seconds", "10",
                "--seed", str(seed),
            ]  # fmt: skip
            try:
                done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
                sent = json.loads(done.stdout.splitlines()[-1])["sent"]
            except (subprocess.TimeoutExpired, IndexError, ValueError):
                self.failed.append(f"{name} {target.name} --seed {seed}")
                continue
            with self.lock:
                self.sent += sent
                self.by_attack[name] = self.by_attack.get(name, 0) + sent


def run(programs: str, attacks: list[str], messages: int, processes: int, calm_seconds: float) -> int:
    """The verdict: 0 where nothing was noticed, 1 where something was."""
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        port = 20_000 + os.getpid() % 20_000
        targets = [Target(programs, folder, port, False), Target(programs, folder, port + 10, True)]
        helpers = [threading.Thread(target=act) for one in targets for act in (one.sample, one.behave)]
        for helper in helpers:
            helper.start()
        began = time.monotonic()
        while any(not one.round_trips for one in targets) and time.monotonic() - began < 20:
            time.sleep(0.1)
        for one in targets:
            one.round_trips.clear()
        time.sleep(calm_seconds)
        calm = [list(one.round_trips) for one in targets]
        for one in targets:
            one.round_trips.clear()
        attackers = Attackers(targets, attacks, messages, processes)
        for thread in attackers.threads:
            thread.start()
        while any(thread.is_alive() for thread in attackers.threads):
            time.sleep(1)
            print(f"{attackers.sent} hostile messages in {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
        wrong = judge(targets, calm, attackers)
        for one in targets:
            one.is_over = True
        for helper in helpers:
            helper.join()
        for one in targets:
            one.process.terminate()
            try:
                one.process.wait(20)
            except subprocess.TimeoutExpired:
                wrong.append(f"the reducer {one.name} did not end within 20 s of SIGTERM")
                one.process.kill()
                one.process.wait()
    for line in wrong:
        print(f"FAILED: {line}")
    print(f"{attackers.sent} hostile messages, {len(wrong)} checks failed")
    return 1 if wrong else 0


def judge(targets: list[Target], calm: list[list[float]], attackers: Attackers) -> list[str]:
    """Prints what happened, and returns what must not."""
    wrong = []
    for name, sent in sorted(attackers.by_attack.items()):
        print(f"{name}: {sent} messages")
    if attackers.sent < attackers.messages:
        wrong.append(f"only {attackers.sent} of {attackers.messages} hostile messages were sent")
    if attackers.failed:
        wrong.append(f"attackers that ended without a report: {', '.join(attackers.failed[:5])}")
    for one, before in zip(targets, calm, strict=True):
        if one.process.poll() is not None:
            with open(f"{one.folder}/log", encoding="utf-8", errors="replace") as log:
                said = log.read().splitlines()[-1:]
            wrong.append(f"the reducer {one.name} ended with {one.process.returncode}: {said}")
            continue
        try:
            print(f"{one.name}: {json.dumps({name: n for name, n in one.counters().items() if n})}")
        except (subprocess.CalledProcessError, ValueError, KeyError) as error:
            wrong.append(f"the reducer {one.name} gave no status: {error}")
        at_peace, attacked = percentile(before, 0.99), percentile(one.round_trips, 0.99)
        print(
            f"{one.name}: at most {one.rss_max:.0f} MB; p99 {at_peace * 1000:.1f} ms without attack ({len(before)} events), "
            f"{attacked * 1000:.1f} ms under attack ({len(one.round_trips)} events)"
        )
        if one.unanswered:
            wrong.append(f"the well-behaved peer {one.name} ended: {one.unanswered}")
        if one.rss_max > RSS_MAX_MB:
            wrong.append(f"the reducer {one.name} had {one.rss_max:.0f} MB")
        if attacked >= P99_GROWTH_MAX * at_peace:
            wrong.append(f"the p99 of a well-behaved peer {one.name} grew {attacked / at_peace:.1f} times")
    return wrong
