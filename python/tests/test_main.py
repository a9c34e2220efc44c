"""A worker as a program: options, exit codes, signals, keys, log."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import Deposit, Work, all_booked, client

from loop_worker import Client, Configuration, NoReducer, NotAdmitted, Options, Retry, Worker, keys
from loop_worker import main as program
from loop_worker.address import look_up, why_silent
from loop_worker.main import _JSON, _Text
from loop_worker.options import Usage, parse
from loop_worker.pytest_plugin import StartReducer
from loop_worker.testing import Reducer, until

PROGRAM = str(Path(__file__).with_name("ledger_worker.py"))


def worker(*words: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, PROGRAM, *words], capture_output=True, text=True, timeout=30, check=False, **more)


def test_options_come_from_the_line_then_from_the_environment() -> None:
    given = {
        "LOOP_REDUCER": "tcp://a:1,tcp://b:1",
        "LOOP_CAPACITY": "7",
        "LOOP_STOP_LIMIT": "20s",
        "LOOP_GROUP": "x,y",
        "LOOP_NAME": "",
    }
    assert parse([], "w", "orders", given) == Options("tcp://a:1,tcp://b:1", capacity=7, stop_limit=20, groups=["x", "y"])
    line = ["orders", "--capacity", "9", "--group", "z", "--connect-timeout", "500ms", "--log", "json"]
    assert parse(line, "w", "orders", given) == Options(
        "tcp://a:1,tcp://b:1", capacity=9, stop_limit=20, groups=["z"], connect_timeout=0.5, log="json"
    )


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--capacity", "0"], "capacity is 0; give a number from 1 to 65536"),
        (["--stop-limit", "5"], "'5' is no time with a unit, such as 500ms, 3s or 2m"),
        (["--reducer", "host:1"], "'host:1' is no address"),
        (["--log-level", "loud"], "log_level is 'loud'; give one of debug, info, notice, warning, error"),
        (["--colour"], "unrecognized arguments: --colour"),
    ],
)
def test_wrong_usage_says_what_is_wrong(words: list[str], why: str) -> None:
    with pytest.raises(Usage) as error:
        parse(words, "w", "orders", {})
    assert why in str(error.value)


@pytest.mark.parametrize(
    ("kind", "arguments", "why"),
    [
        (Options, {"capacity": 0}, "capacity is 0; give a number from 1 to 65536"),
        (Options, {"capacity": "many"}, "capacity is 'many'; give a number from 1 to 65536"),
        (Options, {"groups": "payments"}, "groups is 'payments'; give a list of names"),
        (Options, {"stop_limit": "5s"}, "stop_limit is '5s'; give seconds from 0 on"),
        (Options, {"connect_timeout": float("nan")}, "connect_timeout is nan; give seconds from 0 on, or None"),
        (Options, {"log_level": "loud"}, "log_level is 'loud'; give one of debug, info, notice, warning, error"),
        (Client, {"loop": "x", "reducer": 7710}, "the reducer's address is 7710; give a text such as tcp://127.0.0.1:7710"),
        (Options, {"name": 5}, "name is 5; give a text"),
        (Options, {"groups": [5]}, "groups is [5]; give a list of names"),
        (Options, {"groups": ["caf\udce9"]}, "groups is ['caf\\udce9']; give a list of names"),
        (Client, {"loop": "x", "name": "caf\udce9"}, "name is 'caf\\udce9'; give a text"),
        (Client, {"loop": 5}, 'the name of the loop is 5; give a name, such as "orders"'),
        (Client, {"loop": "x", "schema": -1}, "schema is -1; give a whole number of 64 bits, from 0 on"),
        (Worker, {"loop": "x", "schema": "1"}, "schema is '1'; give a whole number of 64 bits, from 0 on"),
        (Worker, {"loop": "x", "schema": True}, "schema is True; give a whole number of 64 bits, from 0 on"),
        (Worker, {"loop": "x", "schema": 2**64}, "schema is 18446744073709551616; give a whole number of 64 bits, from 0 on"),
        (
            Worker("x").effect,
            {"name": "caf\udce9"},
            "the name of the feedback is 'caf\\udce9'; give a name: @worker.effect(\"ship\")",
        ),
        (Worker("x").effect, {"name": "y", "group": 5}, "group is 5; give the name of a group"),
        (Worker("x").effect, {"name": "y", "pool": 4}, "pool is 4; give an Executor, or None for threads"),
        (Worker, {"loop": ""}, "the name of the loop is ''; give a name, such as \"orders\""),
        (Retry, {"after": "soon"}, "after is 'soon'; give seconds from 0 on, a timedelta, or None"),
        (Retry, {"after": float("nan")}, "after is nan; give seconds from 0 on, a timedelta, or None"),
        (Retry, {"after": -5}, "after is -5; give seconds from 0 on, a timedelta, or None"),
    ],
)
def test_an_argument_that_cannot_be_used_is_named_at_once(kind: Any, arguments: dict[str, Any], why: str) -> None:
    with pytest.raises(Configuration) as error:
        kind(**arguments)
    assert str(error.value) == why


def test_wrong_usage_is_64_and_what_cannot_run_is_2(tmp_path: Path) -> None:
    wrong = worker("--capacity", "none")
    assert (wrong.returncode, wrong.stderr) == (
        64,
        "ledger_worker.py: capacity is 'none'; give a number from 1 to 65536; see ledger_worker.py --help\n",
    )
    alone = worker("--reducer", f"ipc://{tmp_path}/none", "--connect-timeout", "100ms")
    assert alone.returncode == 2
    assert "nothing listens there; is the address right? (--reducer or LOOP_REDUCER)" in alone.stderr
    no_group = worker("--group", "payments")
    assert no_group.returncode == 2
    assert "there is nothing to run: this worker has effects of the groups default" in no_group.stderr


def test_the_log_is_one_object_a_line_if_asked_for(tmp_path: Path) -> None:
    said = worker("--reducer", f"ipc://{tmp_path}/none", "--connect-timeout", "100ms", "--log", "json").stderr
    (line,) = said.splitlines()
    assert json.loads(line)["level"] == "error"


def test_the_options_of_the_log_count_after_a_module_has_set_up_its_own(tmp_path: Path) -> None:
    code = "import logging, runpy, sys; logging.basicConfig(level=logging.CRITICAL); sys.argv = sys.argv[1:]"
    words = [PROGRAM, "--reducer", f"ipc://{tmp_path}/none", "--connect-timeout", "100ms", "--log", "json"]
    code += "; sys.path.insert(0, sys.argv[0].rpartition('/')[0]); runpy.run_path(sys.argv[0], run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, timeout=30, check=False)
    (line,) = done.stderr.splitlines()
    assert json.loads(line)["level"] == "error"


def start(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, PROGRAM, *words], stderr=subprocess.PIPE, text=True)


async def works(handle: Client) -> None:
    """A worker is there once a deposit is booked."""
    await handle.send(Deposit(1, Work()))
    await all_booked(handle, 1)


async def holds(handle: Client) -> None:
    """The worker holds an effect that does not end."""
    await handle.send(Deposit(2, Work(milliseconds=60_000)))
    async for state in handle.states():
        if state.value["slips"]:
            return


def test_a_signal_that_comes_twice_at_once_is_one_and_none_changes_a_known_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """`timeout` sends its signal twice."""
    codes: list[int] = []
    monkeypatch.setattr(program, "_exit", codes.append)
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}

    async def signalled() -> None:
        signals = program._Signals()
        monkeypatch.setattr(program, "_SAME_SIGNAL", 60)
        os.kill(os.getpid(), signal.SIGTERM)
        await signals.came.wait()
        os.kill(os.getpid(), signal.SIGTERM)
        assert codes == []
        monkeypatch.setattr(program, "_SAME_SIGNAL", -1)
        os.kill(os.getpid(), signal.SIGTERM)
        signals.code = 2
        os.kill(os.getpid(), signal.SIGTERM)
        assert codes == [130, 2]

    try:
        asyncio.run(signalled())
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_a_second_signal_ends_it_at_once_with_130(ledger: Reducer) -> None:
    async def main() -> None:
        async with client(ledger) as handle:
            process = start("--reducer", ledger.address, "--stop-limit", "1m")
            await works(handle)
            await holds(handle)
            ledger.freeze()
            process.send_signal(signal.SIGTERM)
            with pytest.raises(subprocess.TimeoutExpired):
                await asyncio.to_thread(process.wait, 0.5)
            while process.poll() is None:
                # On a slow machine the first of these still belongs to the one before.
                process.send_signal(signal.SIGTERM)
                await asyncio.sleep(0.1)
            assert process.returncode == 130
            ledger.thaw()

    asyncio.run(main())


def test_a_stop_that_is_not_confirmed_ends_after_its_limit(ledger: Reducer) -> None:
    async def main() -> None:
        async with client(ledger) as handle:
            process = start("--reducer", ledger.address, "--stop-limit", "300ms")
            await works(handle)
            await holds(handle)
            ledger.freeze()
            process.send_signal(signal.SIGINT)
            assert await asyncio.to_thread(process.wait, 10) == 0
            assert process.stderr is not None
            assert "ended before the reducer has confirmed what was sent; it runs elsewhere" in process.stderr.read()
            ledger.thaw()

    asyncio.run(main())


def test_a_stop_waits_for_no_body_in_another_process_and_ends_it(ledger: Reducer) -> None:
    program = PROGRAM.replace("ledger_worker", "pool_worker")
    process = subprocess.Popen([sys.executable, program, "--reducer", ledger.address], stdout=subprocess.PIPE)

    async def main() -> None:
        async with client(ledger) as handle:
            await handle.send(Deposit(1, Work()))
            assert process.stdout is not None
            child = int(await asyncio.to_thread(process.stdout.readline))
            process.terminate()
            assert await asyncio.to_thread(process.wait, 10) == 0
            await until(lambda: not Path(f"/proc/{child}").exists())

    asyncio.run(main())


def test_a_stop_names_a_body_that_goes_on_and_ends_without_it(ledger: Reducer) -> None:
    words = [PROGRAM.replace("ledger_worker", "stubborn_worker"), "--reducer", ledger.address, "--stop-limit", "1s"]
    process = subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    async def main() -> None:
        async with client(ledger) as handle:
            await handle.send(Deposit(1, Work()))
            assert process.stdout is not None
            assert await asyncio.to_thread(process.stdout.readline) == "begun\n"
            process.terminate()
            _, errors = await asyncio.to_thread(process.communicate, timeout=30)
            assert process.returncode == 0
            assert "the body of book ledger/" in errors
            assert "was cancelled and goes on; the process ends without it" in errors

    asyncio.run(main())


def test_a_stop_gives_bodies_no_time_beyond_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    codes: list[int] = []
    monkeypatch.setattr(program, "_exit", codes.append)
    limits: list[float] = []

    async def wait(_: object, timeout: float) -> None:
        limits.append(timeout)

    monkeypatch.setattr(asyncio, "wait", wait)
    body = SimpleNamespace(feedback="book", key="ledger/0/0.1.0")
    running: Any = SimpleNamespace(title="worker", cancelled={object(): body})
    for limit in (3.0, -0.2):
        asyncio.run(program._end_bodies(running, limit))
    assert limits == [3, 0]
    assert codes == [0, 0]


def test_a_line_of_a_body_keeps_its_text_and_an_error_its_traceback() -> None:
    try:
        raise ValueError("here")
    except ValueError:
        record = logging.LogRecord("shop", logging.ERROR, "", 1, "a: b", None, sys.exc_info())
    line = json.loads(_JSON().format(record))
    assert (line["node"], line["text"].splitlines()[0], line["text"].splitlines()[-1]) == ("shop", "a: b", "ValueError: here")


def test_no_further_line_of_a_text_looks_like_a_line_of_the_log() -> None:
    try:
        raise ValueError("here\nworker b1: there")
    except ValueError:
        record = logging.LogRecord("loop_worker", logging.ERROR, "", 1, "worker b1: a\x1b\nb", None, sys.exc_info())
    first, *others = _Text().format(record).splitlines()
    assert first == r"worker b1: a\x1b"
    assert all(line.startswith("  ") for line in others)
    assert others[-2:] == ["  ValueError: here", "  worker b1: there"]


# Keys.


@pytest.fixture
def folder_of_keys(programs: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "keys"
    for name, role in (("main", "reducer"), ("w1", "worker"), ("me", "sender"), ("s1", "sender")):
        more = ["--role", "observer"] if name == "me" else []
        subprocess.run([programs / "loopctl", "keygen", folder, name, "--role", role, *more], check=True, capture_output=True)
    return folder


def test_with_keys_only_those_who_have_them_take_part(programs: Path, start_reducer: StartReducer, folder_of_keys: Path) -> None:
    reducer = start_reducer(programs / "loop-reducer", "ledger", "/tmp", "--keys", folder_of_keys)
    own, server = str(folder_of_keys / "me.key_secret"), str(folder_of_keys / "server.key")

    async def main() -> None:
        with_keys = ["--key", str(folder_of_keys / "w1.key_secret"), "--reducer-key", server]
        process = start("--reducer", reducer.address, *with_keys)
        async with Client("ledger", reducer.address, key=own, reducer_key=server) as handle:
            await works(handle)
        process.terminate()
        assert await asyncio.to_thread(process.wait, 10) == 0
        async with Client("ledger", reducer.address, connect_timeout=0.3) as stranger:
            with pytest.raises(NoReducer, match="does not talk without keys; give --key and --reducer-key"):
                await stranger.send(Deposit(2, Work()))

    asyncio.run(main())


def test_a_sender_that_may_not_read_goes_on_sending(programs: Path, start_reducer: StartReducer, folder_of_keys: Path) -> None:
    reducer = start_reducer(programs / "loop-reducer", "ledger", "/tmp", "--keys", folder_of_keys)
    own, server = str(folder_of_keys / "s1.key_secret"), str(folder_of_keys / "server.key")

    async def main() -> None:
        async with Client("ledger", reducer.address, key=own, reducer_key=server) as handle:
            why = 'the key "s1", which is sender, may not fetch states; its certificate must have the role observer'
            for number in (1, 2):
                with pytest.raises(NotAdmitted, match=why):
                    await handle.state()
                with pytest.raises(NotAdmitted, match=why):
                    await anext(handle.states())
                assert (await handle.send(Deposit(number, Work()))).seq == number

    asyncio.run(main())


def test_a_sender_that_may_not_follow_transitions_goes_on_sending(
    programs: Path, start_reducer: StartReducer, folder_of_keys: Path
) -> None:
    reducer = start_reducer(programs / "loop-reducer", "ledger", "/tmp", "--keys", folder_of_keys)
    server = str(folder_of_keys / "server.key")

    async def main() -> None:
        async with Client("ledger", reducer.address, key=str(folder_of_keys / "s1.key_secret"), reducer_key=server) as handle:
            why = 'the key "s1", which is sender, may not fetch states; its certificate must have the role observer'
            for number in (1, 2):
                with pytest.raises(NotAdmitted, match=why):
                    await asyncio.wait_for(anext(handle.transitions()), 10)
                assert (await handle.send(Deposit(number, Work()))).seq == number
            async with Client("ledger", reducer.address, key=str(folder_of_keys / "me.key_secret"), reducer_key=server) as other:
                first = asyncio.ensure_future(anext(other.transitions(Deposit)))
                # The subscription is there once one transition was heard.
                while not first.done():
                    number += 1
                    await handle.send(Deposit(number, Work()))
                    await asyncio.sleep(0.05)
                assert first.result().seq == first.result().event.number

    asyncio.run(main())


def test_a_key_that_others_can_read_is_refused(folder_of_keys: Path) -> None:
    secret, server = folder_of_keys / "w1.key_secret", str(folder_of_keys / "server.key")
    assert keys.load(secret, server) is not None
    public = next(line.split('"')[1] for line in Path(server).read_text().splitlines() if "public-key" in line)
    assert keys.load(secret, public) == keys.load(secret, server)
    link = folder_of_keys / "link"
    link.symlink_to(secret)
    os.chmod(secret, 0o644)
    for path, why in (
        (secret, "chmod 600"),
        (link, "symbolic link"),
        (folder_of_keys / "none", "cannot be read"),
        (None, "needs --key"),
        (folder_of_keys / "allowed" / "w1.key", "has no secret-key: give the file NAME.key_secret"),
    ):
        with pytest.raises(Configuration, match=why):
            keys.load(path, server)
    os.chmod(secret, 0o600)
    # The second one is a larger number than a key has.
    for wrong in ("~" * 40, "#" * 40, "é" * 40):
        with pytest.raises(Configuration, match=f"{wrong} is no file, and no key"):
            keys.load(secret, wrong)
    secret.write_text(secret.read_text().replace('secret-key = "', 'secret-key = "~'))
    with pytest.raises(Configuration, match="has a key that is none"):
        keys.load(secret, server)


def test_each_address_of_a_name_is_tried() -> None:
    found = asyncio.run(look_up(["tcp://localhost:7710", "tcp://127.0.0.1:7711", "ipc:///x"]))
    # A name that no name can be is left to the library.
    assert asyncio.run(look_up(["tcp://a..b:7710"])) == ["tcp://a..b:7710"]
    assert asyncio.run(why_silent("tcp://a..b:7710", False)).startswith("this can be no address")
    assert found[:3] == ["tcp://127.0.0.1:7710", "tcp://127.0.0.1:7711", "ipc:///x"]
