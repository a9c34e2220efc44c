"""The command `loop-conform`."""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NoReturn

import zmq

from . import forms
from .ends import Peer
from .play import STOPPED_BY, Failed, Play, Stopped, free_address, started_reducer

MODES = ("worker", "client", "observer", "reducer")


def cases() -> list[dict[str, Any]]:
    """All cases, in the order of the file."""
    found = json.loads((Path(__file__).parent / "cases.json").read_text(encoding="utf-8"))
    assert isinstance(found, list)
    return found


class Parser(argparse.ArgumentParser):
    """Wrong usage has the exit code 64, as for the programs of this project."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(64, f"{self.prog}: {message}\n")


def arguments() -> argparse.Namespace:
    parser = Parser(prog="loop-conform", description=__doc__)
    parser.add_argument("--list", action="store_true", help="print the cases of all modes, and end")
    commands = parser.add_subparsers(dest="mode")
    texts = {
        "worker": "try a worker of the loop conform: the kit plays its reducer",
        "client": "try a client, which sends the event of its standard input: the kit plays its reducer",
        "observer": "try an observer, which prints each state that it shows: the kit plays its reducer",
        "reducer": "try a reducer of the loop conform: the kit plays its workers, clients and observers",
    }
    for mode in MODES:
        command = commands.add_parser(mode, help=texts[mode], description=texts[mode])
        command.add_argument(
            "--exec",
            metavar="CMD",
            default="",
            help="starts the program; its reducer is in LOOP_REDUCER, and in place of {address}; {folder} is a folder of the case",
        )
        command.add_argument("--group", action="append", default=[], metavar="G", help="only the cases of a group")
        command.add_argument("--case", action="append", default=[], metavar="NAME", help="only this case")
        command.add_argument("--list", action="store_true", default=argparse.SUPPRESS, help="print the cases, and end")
        command.add_argument("--jobs", type=int, default=8, help="how many programs at once")
        if mode == "reducer":
            command.add_argument(
                "address", nargs="?", default="", help="where it runs already; cases that need their own need --exec"
            )
    given = parser.parse_args()
    if given.mode is None:
        if not given.list:
            parser.error(f"give a mode: {', '.join(MODES)}; or --list")
        return given
    if given.jobs < 1:
        parser.error(f"--jobs is {given.jobs}; give 1 or more")
    address = getattr(given, "address", "")
    if not given.list and not given.exec and not address:
        others = "; or give the ADDRESS of a reducer that runs already" if given.mode == "reducer" else ""
        parser.error(f"--exec is missing{others}")
    if address and not can_be_dialled(address):
        parser.error(f"{address!r} is no address: give tcp://HOST:PORT or ipc://PATH")
    if given.exec:
        try:
            words = shlex.split(given.exec)
        except ValueError as error:
            parser.error(f"--exec {given.exec!r} is no command: {error}")
        if not words or not shutil.which(words[0]):
            parser.error(f"--exec: there is no program {''.join(words[:1])!r}")
    return given


def can_be_dialled(address: str) -> bool:
    """Whether a text is an address that the library can dial."""
    found = re.fullmatch(r"ipc://.+|tcp://.+:(\d{1,5})", address)
    # The library takes larger ports for others.
    if not found or not 1 <= int(found[1] or 1) <= 65_535:
        return False
    try:
        with zmq.Context() as context, context.socket(zmq.DEALER) as dealer:
            dealer.linger = 0
            dealer.connect(address)
    except zmq.ZMQError:
        return False
    return True


def outcome(play: Play) -> tuple[str, float]:
    """What became of a case, empty if it is well, and how many seconds it took."""
    began = time.monotonic()
    try:
        play.run()
        return "", time.monotonic() - began
    except Failed as failure:
        return f"{play.place}: {failure}", time.monotonic() - began
    except (forms.Mistake, KeyError, AttributeError, AssertionError, zmq.ZMQError, OSError) as error:
        return f"{play.place}: the case cannot be played: {error!r}", time.monotonic() - began


def swept(play: Play, broom: Peer) -> tuple[str, float]:
    """The outcome of a case at a reducer that goes on: what the case has left is cancelled."""
    result = outcome(play)
    play.ends = {"broom": broom}
    play.program = None
    number = broom.next
    n = play.variables["n"]
    broom.send("Batch", {"entries": [{"event": {"cancel": {"number": n + more}}} for more in range(4)]}, {})
    play.wait(
        lambda: broom.take("Acknowledgement", {"watermark": {"least": number + 3}}), "that the cases' orders are cancelled", 10_000
    )
    broom.settled = number + 3
    return result


def played(given: argparse.Namespace, chosen: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], str, float]]:
    """The cases with their outcomes, as they end."""
    context: zmq.Context[Any] = zmq.Context()
    with tempfile.TemporaryDirectory(prefix="loop-conform-") as folder, ThreadPoolExecutor(given.jobs) as pool:
        shared = [case for case in chosen if given.mode == "reducer" and not case.get("own")]
        alone = [case for case in chosen if case not in shared]
        running = [(case, pool.submit(outcome, Play(case, given.mode, given.exec, context))) for case in alone if given.exec]
        if shared:
            address = given.address or free_address()
            program = None if given.address else started_reducer(given.exec, folder, address)
            sweeper = Play({"steps": []}, given.mode, "", context, address)
            try:
                sweeper.add("broom", {})
                broom = sweeper.ends["broom"]
                assert isinstance(broom, Peer)
                for case in shared:
                    yield case, *swept(Play(case, given.mode, "", context, address), broom)
            except Failed as failure:
                yield {"name": "reducer", "section": "5"}, f"the reducer at {address} does not serve: {failure}", 0.0
            finally:
                if program:
                    program.signal("KILL")
        for case, future in running:
            yield case, *future.result()


def show(chosen: list[dict[str, Any]], has_modes: bool) -> None:
    for case in chosen:
        modes = f" ({', '.join(case['for'])})" if has_modes else ""
        print(f"{case['name']:34} section {case['section']}: {case['rule']}{modes}")


def group(case: dict[str, Any]) -> str:
    name: str = case["name"]
    return name.split(".")[0]


def main() -> int:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: STOPPED_BY.append(number))
    try:
        code = run()
        sys.stdout.flush()
    except Stopped:
        return 128 + STOPPED_BY[0]
    except BrokenPipeError:
        # Its reader has enough, as `head` does. Nothing more is printed, at the end of the process either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    return code


def run() -> int:
    given = arguments()
    if given.mode is None:
        show(cases(), has_modes=True)
        return 0
    of_mode = [case for case in cases() if given.mode in case["for"]]
    groups, names = set(given.group), set(given.case)
    chosen = [one for one in of_mode if (not groups or group(one) in groups) and (not names or one["name"] in names)]
    known = {group(one) for one in of_mode}
    unknown = names - {one["name"] for one in of_mode} or groups - known
    if unknown or not chosen:
        why = f"has no case or group {', '.join(sorted(unknown))}" if unknown else "has no case of these names and groups"
        there = f"its groups are {', '.join(sorted(known))}"
        print(f"loop-conform: {given.mode} {why}; {there}; see loop-conform {given.mode} --list", file=sys.stderr)
        return 64
    if given.list:
        show(chosen, has_modes=False)
        return 0
    failures = tried = 0
    for case, text, seconds in played(given, chosen):
        tried += 1
        if text:
            failures += 1
            print(f"{case['name']:34} FAILED  section {case['section']}: {case.get('rule', '')}")
            print("    " + text.replace("\n", "\n    "))
        else:
            print(f"{case['name']:34} ok  {seconds:.1f} s")
        sys.stdout.flush()
    skipped = len(chosen) - tried
    print(f"{tried} cases, {failures} failed" + (f", {skipped} not tried, because they need --exec" if skipped > 0 else ""))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
