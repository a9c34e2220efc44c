"""One case, played: its steps in order, against a program that the kit starts, or against a reducer that runs."""

from __future__ import annotations

import json
import os
import random
import shlex
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import zmq
import zmq.auth

from . import forms
from .ends import FINGERPRINT, FOLLOWED, OF_AN_EPOCH, End, Peer, Reducer

WITHIN, NOTHING_FOR = 15_000, 500
"""Milliseconds that an expected message may take, and for which an unexpected one is waited for, if a case says nothing else."""

SHOWN = 20
"""How many messages that came or were sent a report shows, for each end."""
DIFFERING = 3
"""How many messages of the expected kind, that are not as expected, are shown as a whole."""
AFTER_THE_END = 1.0
"""Seconds for which messages of a program that has ended are still waited for."""
ROLES = ("worker", "observer", "sender", "admin")
"""The roles of keys at a reducer; the key of each role has its name. The worker's is for the group `default`."""
NOISE = ("Hello", "Heartbeat", "Tick", "ServerHeartbeat", "StateHash", "Unchanged")
"""Of these a report shows the newest one."""


STOPPED_BY: list[int] = []
"""The signals that have told the kit to end."""


class Failed(Exception):
    """The other side does something else than the case expects."""


class Stopped(Exception):
    """A signal has told the kit to end."""


@dataclass
class Program:
    """A command that is tested, as a process."""

    command: str
    environment: dict[str, str]
    folder: str
    document: str = ""
    process: subprocess.Popen[bytes] = field(init=False)

    def start(self) -> None:
        with open(f"{self.folder}/document", "w", encoding="utf-8") as file:
            file.write(self.document)
        with open(f"{self.folder}/document", "rb") as given, open(f"{self.folder}/output", "ab") as output:
            self.process = subprocess.Popen(
                shlex.split(self.command),
                stdin=given,
                stdout=output,
                stderr=output,
                env=os.environ | self.environment,
                start_new_session=True,
            )

    def output(self) -> str:
        with open(f"{self.folder}/output", encoding="utf-8", errors="replace") as file:
            return file.read()

    def signal(self, name: str) -> None:
        number = getattr(signal, "SIG" + name)
        if self.process.poll() is None:
            os.killpg(self.process.pid, number)
        if name == "KILL":
            self.process.wait()


def free_address() -> str:
    """An address with two free ports behind its own, which PUB and PULL get."""
    while True:
        port = random.randrange(20_000, 60_000)
        try:
            for offset in range(3):
                with socket.socket() as one:
                    one.bind(("127.0.0.1", port + offset))
            return f"tcp://127.0.0.1:{port}"
        except OSError:
            continue


def started_reducer(command: str, folder: str, address: str, environment: dict[str, str] | None = None) -> Program:
    """A reducer of the loop `conform`, which may not listen yet."""
    program = Program(command.replace("{address}", address).replace("{folder}", folder), environment or {}, folder)
    program.start()
    return program


def go_on() -> None:
    """Raises `Stopped` once a signal has come."""
    if STOPPED_BY:
        raise Stopped


class Play:
    """A case and everything that it needs."""

    def __init__(self, case: dict[str, Any], mode: str, command: str, context: zmq.Context[Any], address: str = "") -> None:
        self.case, self.mode, self.command, self.context, self.address = case, mode, command, context, address
        self.ends: dict[str, End] = {}
        self.program: Program | None = None
        self.variables: dict[str, Any] = {
            "n": 1 if mode != "reducer" else random.randrange(1 << 30) * 4,
            "fingerprint": FINGERPRINT,
        }
        self.place = ""
        self.shown = 0
        """How many states of an observer were looked at."""
        self.folder = tempfile.TemporaryDirectory(prefix="loop-conform-", ignore_cleanup_errors=True)

    def run(self) -> None:
        """Plays the case. Raises `Failed` and `Stopped`."""
        try:
            go_on()
            self.prepare()
            for number, step in enumerate(self.case["steps"], 1):
                self.place = f"step {number}"
                self.step(step)
            self.place = "at the end"
            self.judge()
        finally:
            if self.program:
                self.program.signal("KILL")
            for end in self.ends.values():
                end.turn()
                if isinstance(end, Peer) and end.session and self.mode == "reducer":
                    end.send("Goodbye", {}, {})
                    end.sockets["control"].linger = 1000
                    end.sockets["control"].close()
                end.close()
            self.folder.cleanup()

    def prepare(self) -> None:
        self.place = "before the steps"
        if self.mode == "reducer":
            if self.case.get("own"):
                self.address = free_address()
                environment = self.admitted_keys() if self.case.get("keys") else {}
                self.program = started_reducer(self.command, self.folder.name, self.address, environment)
            if self.case.get("begin") != "nothing":
                self.add("a", self.case)
            return
        reducers = []
        environment, certificate = self.keys()
        for name in "ab"[: self.case.get("addresses", 1)]:
            self.ends[name] = reducers_end = Reducer(self.context, certificate)
            reducers_end.settings |= self.case.get("set", {}) | ({"admitting": True} if self.mode == "observer" else {})
            reducers.append(reducers_end.address)
            self.variables[f"address_{name}"] = reducers_end.address
        event = forms.resolved(self.case.get("event", {"place": {"order": {"does": "answer"}}}), self.variables)
        environment["LOOP_REDUCER"] = ",".join(reducers)
        environment |= self.case.get("environment", {})
        if self.case.get("outbox"):
            environment["LOOP_OUTBOX"] = f"{self.folder.name}/outbox"
        command = self.command.replace("{address}", ",".join(reducers)).replace("{folder}", self.folder.name)
        self.program = Program(command, environment, self.folder.name, json.dumps(event))
        self.program.start()
        self.admit("a", self.case.get("begin", "serve" if self.mode != "observer" else "hello"))

    def keys(self) -> tuple[dict[str, str], str]:
        """The variables that name a program's keys, and the reducer's certificate; nothing in a case without keys."""
        which = self.case.get("keys")
        if not which:
            return {}, ""
        _, own = zmq.auth.create_certificates(self.folder.name, "own")
        os.chmod(own, 0o600)
        server, certificate = zmq.auth.create_certificates(self.folder.name, "server")
        other, _ = zmq.auth.create_certificates(self.folder.name, "other")
        return {"LOOP_KEY": own, "LOOP_REDUCER_KEY": server if which == "own" else other}, certificate

    def admitted_keys(self) -> dict[str, str]:
        """The variable that names a reducer's folder of keys. It admits one key for each role, and not the one of `stranger`."""
        folder = f"{self.folder.name}/keys"
        os.makedirs(f"{folder}/allowed", 0o700)
        for name in ("server", "stranger", *ROLES):
            public, secret = zmq.auth.create_certificates(folder, name)
            os.chmod(secret, 0o600)
            if name in ROLES:
                # The library writes what a key allows to the secret file only.
                metadata = f'metadata\n    roles = "{name}"\n    groups = "default"\n'
                allowed = Path(public).read_text("utf-8").replace("metadata\n", metadata)
                Path(f"{folder}/allowed/{name}.key").write_text(allowed, "utf-8")
        return {"LOOP_KEYS": folder}

    def add(self, name: str, step: dict[str, Any]) -> None:
        """A peer that the kit plays for the reducer, with the key that the step names."""
        folder = f"{self.folder.name}/keys"
        keys = (f"{folder}/{step['key']}.key_secret", f"{folder}/server.key") if "key" in step else None
        self.ends[name] = peer = Peer(self.context, self.address, keys)
        peer.settings |= step.get("set", {})
        self.variables[f"peer_{name}"] = peer.peer
        self.admit(name, step.get("begin", "serve"))

    def admit(self, name: str, until: str) -> None:
        end = self.ends[name]
        end.admit(until, lambda condition, what: self.wait(condition, what, WITHIN))
        self.remember(end)

    def remember(self, end: End) -> None:
        self.variables |= {"session": end.session, "history": end.history, "epoch": end.epoch}
        if isinstance(end, Reducer):
            self.variables |= {"number": end.number, "watermark": end.watermark, "peer": end.peer}

    # Waiting.

    def turn(self, longest: float = 0.02) -> None:
        go_on()
        sockets = [socket for end in self.ends.values() for socket in end.sockets.values() if not socket.closed]
        zmq.select(sockets, [], [], longest)
        for end in self.ends.values():
            end.turn()

    def wait(self, condition: Callable[[], Any], what: str, milliseconds: int) -> Any:
        limit = time.monotonic() + milliseconds / 1000
        while True:
            found = condition()
            if found:
                return found
            if self.program and self.program.process.poll() is not None:
                limit = min(limit, time.monotonic() + AFTER_THE_END)
            if time.monotonic() > limit:
                raise Failed(f"expected within {milliseconds} ms: {what}\n{self.came()}")
            self.turn()

    def came(self) -> str:
        """What was heard and sent last, for people."""
        lines = []
        for name, end in self.ends.items():
            newest = {(way, one.name): at for at, (way, one) in enumerate(end.record) if one.name in NOISE}
            counts: dict[str, int] = {}
            for at, (way, one) in enumerate(end.record):
                if newest.get((way, one.name), at) == at:
                    text = f"{way} {name}: {one}"
                    counts[text] = counts.pop(text, 0) + 1
            lines += [text + f" ({count} times)" * (count > 1) for text, count in list(counts.items())[-SHOWN:]]
        if self.program:
            code = self.program.process.poll()
            state = "runs" if code is None else f"has ended with {code}"
            lines.append(f"the program {state}; it printed: {self.program.output()[-1500:]}")
        return "\n".join(lines) or "nothing came"

    # Steps.

    def step(self, step: dict[str, Any]) -> None:
        if step.get("only", self.mode) != self.mode:
            return
        for name in STEPS:
            if name in step:
                getattr(self, "do_" + name)(step)
                return
        raise forms.Mistake(f"a step that is none: {step}")

    def end_of(self, step: dict[str, Any]) -> Any:
        return self.ends[step.get("at", "a")]

    def fields(self, step: dict[str, Any]) -> dict[str, Any]:
        fields = forms.resolved(step.get("with", {}), self.variables)
        assert isinstance(fields, dict)
        return fields

    def do_expect(self, step: dict[str, Any]) -> None:
        end, name, fields = self.end_of(step), step["expect"], self.fields(step)
        is_next = step.get("next", False)
        if isinstance(end, Reducer) and name in OF_AN_EPOCH:
            fields = {"session": end.session, "epoch": end.epoch} | fields
        what = f"{name} {json.dumps(fields)}" + (" next" if is_next else "")
        try:
            found = self.wait(lambda: end.take(name, fields, is_next), what, step.get("within", WITHIN))
        except Failed as failure:
            others = [one for one in end.heard[end.read.get(name, -1) + 1 :] if one.name == name][-DIFFERING:]
            lines = [f"no such {name}, at {forms.difference(fields, one.fields)}: {forms.shortened(one.fields)}" for one in others]
            raise Failed("\n".join([str(failure), *lines])) from None
        for variable, path in step.get("save", {}).items():
            self.variables[variable] = forms.at_path(found.fields, path)

    def do_nothing(self, step: dict[str, Any]) -> None:
        end, name, fields = self.end_of(step), step["nothing"], self.fields(step)
        if "after" in step:
            # What was on its way when the case said something.
            self.do_wait({"wait": step["after"]})
            end.read |= {one.socket: one.index for one in end.heard}
        limit = time.monotonic() + step.get("for", NOTHING_FOR) / 1000
        while time.monotonic() < limit:
            self.turn()
            if end.intruder(name, fields):
                raise Failed(f"expected no {name} {json.dumps(fields)} for {step.get('for', NOTHING_FOR)} ms\n{self.came()}")

    def do_send(self, step: dict[str, Any]) -> None:
        end = self.end_of(step)
        step = step | {"header": forms.resolved(step.get("header", {}), self.variables)}
        kind = step["send"]
        verb = 0 if kind == "Batch" else forms.MESSAGES[kind].verb
        is_for_peers = kind in ("JoinAccepted", "Commands", "Acknowledgement", "Tick", "Ended", "ServerHeartbeat")
        if isinstance(end, Reducer) and (is_for_peers or verb in FOLLOWED):
            self.wait(lambda: end.topics(verb, step) & end.subscribed, f"a subscription to what has a {kind}", WITHIN)
        end.send(kind, self.fields(step), step)
        self.remember(end)

    def do_raw(self, step: dict[str, Any]) -> None:
        end, data = self.end_of(step), bytes.fromhex(step["raw"])
        end.note_sent("bytes", {"hex": step["raw"]}, step)
        if isinstance(end, Reducer):
            end.put(0, data, {"over": step["over"]})
        else:
            end.sockets[step["over"]].send(data)

    def do_set(self, step: dict[str, Any]) -> None:
        end = self.end_of(step)
        for name, value in forms.resolved(step["set"], self.variables).items():
            if name in end.settings:
                end.settings[name] = value
            else:
                assert hasattr(end, name), name
                setattr(end, name, value)
        self.remember(end)

    def do_admit(self, step: dict[str, Any]) -> None:
        self.admit(step.get("at", "a"), step["admit"])

    def do_peer(self, step: dict[str, Any]) -> None:
        self.add(step["peer"], {key: value for key, value in step.items() if key != "peer"})

    def do_let(self, step: dict[str, Any]) -> None:
        self.variables |= forms.resolved(step["let"], self.variables)

    def do_repeat(self, step: dict[str, Any]) -> None:
        for index in range(1, step["repeat"] + 1):
            self.variables["i"] = index
            for one in step["steps"]:
                self.step(one)

    def do_subscribe(self, step: dict[str, Any]) -> None:
        self.end_of(step).subscribe(step)

    def do_wait(self, step: dict[str, Any]) -> None:
        limit = time.monotonic() + step["wait"] / 1000
        while time.monotonic() < limit:
            self.turn()

    def do_signal(self, step: dict[str, Any]) -> None:
        assert self.program
        self.program.signal(step["signal"])

    def do_start(self, step: dict[str, Any]) -> None:
        assert self.program
        if "event" in step:
            self.program.document = json.dumps(forms.resolved(step["event"], self.variables))
        self.program.start()

    def do_exit(self, step: dict[str, Any]) -> None:
        assert self.program
        process = self.program.process
        self.wait(lambda: process.poll() is not None, "the end of the program", step.get("within", WITHIN))
        if not forms.fits(step["exit"], process.returncode):
            raise Failed(f"expected an exit code of {step['exit']}\n{self.came()}")

    def do_output(self, step: dict[str, Any]) -> None:
        assert self.program
        program, text = self.program, str(forms.resolved(step["output"], self.variables))
        self.wait(lambda: text in program.output(), f"the output '{text}'", step.get("within", WITHIN))

    def do_shows(self, step: dict[str, Any]) -> None:
        """The next state that an observer shows, with `until` the next one that fits; or that it shows none."""
        assert self.program
        program, expected = self.program, step["shows"]

        def shown() -> list[Any]:
            return [json.loads(line) for line in program.output().splitlines() if line.startswith("{") and line.endswith("}")]

        def behind() -> Iterable[tuple[int, Any]]:
            return enumerate(shown()[self.shown :], self.shown + 1)

        what = f"that it shows {json.dumps(expected)}"
        if expected is None:
            self.do_wait({"wait": step.get("for", NOTHING_FOR)})
        else:
            is_next = not step.get("until", False)
            self.shown = self.wait(
                lambda: next((number for number, one in behind() if is_next or forms.fits(expected, one)), 0),
                what,
                step.get("within", WITHIN),
            )
        states = shown()
        if expected is None and len(states) > self.shown or expected and not forms.fits(expected, states[self.shown - 1]):
            raise Failed(f"expected {what} next\n{self.came()}")

    # What no side may ever do.

    def judge(self) -> None:
        """Every frame of the other side can be read, and names this loop."""
        for end in self.ends.values():
            for one in end.heard:
                if one.name == "Malformed":
                    raise Failed(f"a frame that is none of the protocol: {one}\n{self.came()}")
                loop = one.fields.get("loop_id")
                if loop is not None and loop != end.loop and one.name not in ("Hello", "StatusWanted", "Administration"):
                    raise Failed(f"a message of another loop: {one}")


STEPS = (
    *("expect", "nothing", "send", "raw", "admit", "peer", "let", "repeat", "subscribe"),
    *("wait", "signal", "start", "exit", "output", "shows", "set"),
)
"""What a step may be. One that has several of these words is the first of them; `set` is a part of `peer` too."""
