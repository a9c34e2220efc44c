"""The kit itself: its cases can be read, the specification names them, and a failure says what is wrong."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import zmq

from loop_conform import forms
from loop_conform.__main__ import MODES, cases
from loop_conform.ends import WAY_IN, Peer, Reducer
from loop_conform.play import STEPS, Failed, Play

ROOT = Path(__file__).parents[2]
GROUPS = {"bytes", "join", "claim", "inbox", "stream", "time", "ends", "observer", "bodies", "keys", "outbox", "follow", "whole"}
GROUPS |= {"section", "deltas"}


def named() -> Iterator[tuple[str, str]]:
    """The cases that the specification names, each with the number of the section that names it."""
    section = ""
    for line in (ROOT / "docs/spec/1-PROTOCOL.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            number = re.match(r"#+ ([\d.]+?)\.? ", line)
            # A heading without a number belongs to the numbered one before it.
            section = number[1] if number else section
        for name in re.findall(r"\[([a-z]+\.[a-z0-9-]+)\](?!\()", line):
            yield name, section


def test_every_case_has_a_name_of_its_own_a_rule_and_steps_that_are_known() -> None:
    names = [case["name"] for case in cases()]
    assert len(set(names)) == len(names)
    assert {name.split(".")[0] for name in names} == GROUPS
    for case in cases():
        assert set(case["for"]) <= set(MODES)
        assert case["rule"]
        assert case["section"]
        for step in steps(case["steps"]):
            assert any(word in step for word in STEPS), (case["name"], step)
            message = step.get("send", "Batch")
            assert message == "Batch" or message in forms.MESSAGES, (case["name"], step)


def steps(found: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for step in found:
        yield step
        yield from steps(step.get("steps", []))


def test_the_specification_names_the_case_of_each_rule_in_its_section() -> None:
    assert sorted(named()) == sorted((case["name"], case["section"]) for case in cases())


def test_a_failure_says_what_was_expected_what_came_and_where_the_rule_is() -> None:
    words = [sys.executable, "-m", "loop_conform", "worker", "--exec", "false", "--case", "join.names-what-it-runs"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    for text in ("FAILED  section 9.1: a worker's join request", "a Hello", "has ended with 1", "1 cases, 1 failed"):
        assert text in done.stdout


@pytest.mark.parametrize("words", [["--list"], ["worker", "--list"]])
def test_a_list_whose_reader_has_enough_ends_without_a_traceback(words: list[str]) -> None:
    command = [sys.executable, "-m", "loop_conform", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as listing:
        assert listing.stdout is not None
        assert listing.stderr is not None
        listing.stdout.close()
        assert listing.stderr.read() == b""
    assert listing.returncode == 141


def test_a_list_without_a_mode_has_the_cases_of_all() -> None:
    done = subprocess.run([sys.executable, "-m", "loop_conform", "--list"], capture_output=True, text=True, check=True)
    assert [line.split()[0] for line in done.stdout.splitlines()] == [case["name"] for case in cases()]


def test_a_group_that_is_not_there_is_answered_with_those_that_are() -> None:
    words = [sys.executable, "-m", "loop_conform", "observer", "--exec", "false", "--group", "nope"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 64
    assert "no case or group nope; its groups are deltas, follow, section;" in done.stderr


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "give a mode"),
        (["worker"], "--exec is missing"),
        (["reducer"], "--exec is missing; or give the ADDRESS of a reducer that runs already"),
        (["reducer", "nonsense"], "'nonsense' is no address: give tcp://HOST:PORT or ipc://PATH"),
        (["reducer", "tcp://127.0.0.1:99999"], "is no address"),
        (["reducer", "ipc:///" + "x" * 200], "is no address"),
        (["worker", "--exec", "no-such-program"], "there is no program"),
        (["worker", "--exec", "python 'x"], "is no command: No closing quotation"),
        (["worker", "--exec", " "], "there is no program ''"),
        (["worker", "--jobs", "0"], "--jobs is 0"),
        (["nothing"], "invalid choice"),
    ],
)
def test_wrong_usage_has_the_exit_code_64(words: list[str], why: str) -> None:
    done = subprocess.run([sys.executable, "-m", "loop_conform", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 64
    assert why in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("mode", ["worker", "reducer"])
def test_a_signal_ends_the_programs_and_leaves_no_folder(tmp_path: Path, mode: str, number: int, code: int) -> None:
    program = "sh -c 'echo $$ >>{folder}/../started; exec sleep 60'"
    words = [sys.executable, "-m", "loop_conform", mode, "--jobs", "2", "--exec", program]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    started = tmp_path / "started"
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as kit:
        limit = time.monotonic() + 20
        while (not started.exists() or not started.read_text().strip()) and time.monotonic() < limit:
            time.sleep(0.05)
        kit.send_signal(number)
        _, errors = kit.communicate(timeout=20)
    assert (kit.returncode, errors) == (code, b"")
    assert list(tmp_path.iterdir()) == [started]
    for process in started.read_text().split():
        assert not Path("/proc", process).exists()


def test_what_came_is_folded_and_what_differs_is_shown_with_its_place() -> None:
    play = Play({"steps": []}, "worker", "", zmq.Context.instance())
    end = Reducer(play.context)
    play.ends["a"] = end
    wrong = {"effect": "0.1.0", "attempt": "1.2", "more": [1] * 500}
    end.note("Claim", {"session": 9, "epoch": "1/7", "claims": [wrong]}, "control")
    for number in (5, 6):
        end.send("Commands", {"number": number, "commands": []}, {"header": {"session": 8}})
    for _ in range(10):
        end.note("AssignmentsWanted", {"session": 9}, "control")
        end.send("Tick", {}, {})
    with pytest.raises(Failed) as failure:
        play.do_expect({"expect": "Claim", "with": {"claims": [{"attempt": "1.1"}]}, "within": 0})
    end.close()
    lines = str(failure.value).splitlines()
    assert "came a: AssignmentsWanted {'session': 9} (10 times)" in lines
    ways = [line.partition(" {")[0] for line in lines if ": " in line and line.split()[0] in ("came", "sent")]
    assert ways == ["came a: Claim", "sent a: Commands", "sent a: Commands", "came a: AssignmentsWanted", "sent a: Tick"]
    assert "sent a: Commands {'number': 5, 'commands': [], 'header': {'session': 8}}" in lines
    assert lines[-1].startswith("no such Claim, at claims.0.attempt, expected '1.1', came '1.2': {'session'")
    assert lines[-1].endswith("1]}]}")


@pytest.mark.parametrize("busy_to", ["Hello", "Join"])
def test_a_peer_of_the_kit_asks_again_after_the_pause_of_a_reducer_that_is_busy(busy_to: str) -> None:
    context: zmq.Context[Any] = zmq.Context.instance()
    reducer = Reducer(context)
    peer = Peer(context, reducer.address)
    asked: list[float] = []

    def wait(condition: Callable[[], Any], _: str) -> Any:
        limit = time.monotonic() + 5
        while time.monotonic() < limit:
            if found := condition():
                return found
            zmq.select([*reducer.sockets.values(), *peer.sockets.values()], [], [], 0.02)
            peer.turn()
            reducer.turn()
            for name, answer in WAY_IN.items():
                if not reducer.take(name, {}):
                    continue
                if name == busy_to:
                    asked.append(time.monotonic())
                if name == busy_to and len(asked) == 1:
                    to = {"verb": forms.MESSAGES[name].verb, "id": 0}
                    reducer.send("Busy", {"to": to, "milliseconds": 400}, {})
                else:
                    reducer.send(answer, {}, {})
        raise AssertionError(f"not admitted; {busy_to} was said at {asked}")

    peer.admit("serve", wait)
    reducer.close()
    peer.close()
    assert len(asked) >= 2
    assert asked[1] - asked[0] >= 0.39


@pytest.mark.parametrize(
    ("pattern", "value", "is_right"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, True),
        ({"a": 1}, {"a": True}, False),
        ([1], [1, 2], False),
        ({"has": {"a": 1}}, [{"a": 2}, {"a": 1}], True),
        ({"not": 1}, 2, True),
        ({"least": 3}, 2, False),
        ({"any": [1, 2]}, 2, True),
        ({"long": 3}, "xxx", True),
        ({"long": 3}, "xx", False),
    ],
)
def test_a_pattern_fits_what_it_names(pattern: Any, value: Any, is_right: bool) -> None:
    assert forms.fits(pattern, value) == is_right


def test_variables_are_values_or_parts_of_texts() -> None:
    assert forms.resolved({"${n}": ["$n", "$n+2", "effect ${n}"]}, {"n": 5}) == {"5": [5, 7, "effect 5"]}
