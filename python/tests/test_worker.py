"""Workers with a real reducer: nothing is lost, doubled or stale, whatever is killed, frozen or cut."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from conftest import Begun, Booked, Booking, Cancel, Deposit, Ledger, Receipt, Work, all_booked, book, clerk, client, options

from loop_worker import (
    BlockingEffect,
    Cancelled,
    Client,
    Configuration,
    Effect,
    Fail,
    Options,
    Retry,
    Worker,
    encode,
    machine,
    wire,
)
from loop_worker.node import Node
from loop_worker.pytest_plugin import StartReducer
from loop_worker.testing import Reducer, until
from loop_worker.watchdog import Watchdog
from loop_worker.worker import RunningWorker

PROGRAM = Path(__file__).with_name("ledger_worker.py")


def process(reducer: Reducer, *words: str, **variables: str) -> subprocess.Popen[bytes]:
    """A worker as a process of its own."""
    environment = {**os.environ, "LOOP_REDUCER": reducer.address, **variables}
    return subprocess.Popen([sys.executable, str(PROGRAM), *words], env=environment)


async def deposit(handle: Any, count: int, work: Work, first: int = 1) -> None:
    await asyncio.gather(*(handle.send(Deposit(number, work)) for number in range(first, first + count)))


def test_effects_run_and_failures_are_tried_again(ledger: Reducer) -> None:
    async def main() -> None:
        async with clerk().running(options(ledger)), client(ledger) as handle:
            await handle.send(Deposit(1, Work()))
            assert await handle.ask(Deposit(2, Work(failures=2)), Receipt) in (Receipt(2, 2), Receipt(2, 1))
            found = await all_booked(handle, 2)
            assert found.is_sound
            assert found.resumed == 2

    asyncio.run(main())


def test_a_cancelled_effect_stops_and_none_of_its_later_events_is_applied(ledger: Reducer) -> None:
    stopped = []

    async def body(booking: Booking, me: Effect) -> Booked:
        try:
            return await book(booking, me)
        except asyncio.CancelledError:
            stopped.append(booking.deposit)
            raise

    async def main() -> None:
        async with clerk(body).running(options(ledger)) as running, client(ledger) as handle:
            await handle.send(Deposit(1, Work(milliseconds=60_000)))
            await until(lambda: len(running.machine.running) == 1)
            await handle.send(Cancel(2, 1))
            await until(lambda: stopped == [1])
            found = await all_booked(handle, 0)
            assert found.is_sound

    asyncio.run(main())


def test_attempts_go_on_while_the_reducer_is_killed_and_started_again(ledger: Reducer) -> None:
    async def main() -> None:
        async with clerk().running(options(ledger, capacity=64)) as running, client(ledger) as handle:
            await deposit(handle, 40, Work(milliseconds=1500))
            await until(lambda: len(running.machine.running) == 40)
            ledger.kill()
            await handle.post(Deposit(41, Work()))
            await asyncio.to_thread(ledger.start)
            found = await all_booked(handle, 41)
            assert found.is_sound
            # The reducer has adopted the attempts: none began a second time.
            assert found.resumed == 0
            assert running.machine.epoch.number == 2

    asyncio.run(main())


def test_nothing_is_lost_while_the_reducer_is_killed_again_and_again(ledger: Reducer) -> None:
    async def main() -> None:
        async with clerk().running(options(ledger, capacity=64)), client(ledger) as handle:
            done = asyncio.ensure_future(deposit(handle, 400, Work(milliseconds=5)))
            for _ in range(3):
                await asyncio.sleep(0.3)
                ledger.kill()
                await asyncio.to_thread(ledger.start)
            await done
            assert (await all_booked(handle, 400)).is_sound

    asyncio.run(main())


def test_a_reducer_that_was_frozen_finds_its_worker_again(impatient_ledger: Reducer) -> None:
    async def main() -> None:
        async with clerk().running(options(impatient_ledger)), client(impatient_ledger) as handle:
            await deposit(handle, 8, Work(milliseconds=500))
            impatient_ledger.freeze()
            await asyncio.sleep(1.5)
            impatient_ledger.thaw()
            assert (await all_booked(handle, 8)).is_sound

    asyncio.run(main())


def test_a_worker_frozen_beyond_its_lease_does_no_harm(impatient_ledger: Reducer) -> None:
    """Its effects run on the other worker; what it sends when it wakes is refused."""
    frozen = process(impatient_ledger, "--name", "frozen")
    try:

        async def main() -> None:
            async with client(impatient_ledger) as handle:
                await deposit(handle, 8, Work(milliseconds=300))

                def begun() -> bool:
                    found = subprocess.run(
                        [LOOPCTL, "status", "--json", "--reducer", impatient_ledger.address], capture_output=True, check=True
                    )
                    return b'"running":8' in found.stdout.replace(b" ", b"")

                await asyncio.to_thread(wait_until, begun)
                frozen.send_signal(signal.SIGSTOP)
                async with clerk().running(options(impatient_ledger)):
                    found = await all_booked(handle, 8)
                    assert found.is_sound
                    frozen.send_signal(signal.SIGCONT)
                    await deposit(handle, 40, Work(milliseconds=20), first=100)
                    found = await all_booked(handle, 48)
                    assert found.is_sound

        asyncio.run(main())
    finally:
        frozen.send_signal(signal.SIGCONT)
        frozen.terminate()
        assert frozen.wait(10) == 0


LOOPCTL = ""


@pytest.fixture(autouse=True)
def _loopctl(programs: Path) -> None:
    global LOOPCTL
    LOOPCTL = str(programs / "loopctl")


def wait_until(condition: Any, limit: float = 20) -> None:
    end = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_worker_that_is_killed_loses_its_effects_to_another(impatient_ledger: Reducer) -> None:
    async def main() -> None:
        async with client(impatient_ledger) as handle:
            killed = process(impatient_ledger)
            await deposit(handle, 8, Work(milliseconds=400))
            await until_begun(handle, 8)
            killed.kill()
            killed.wait()
            async with clerk().running(options(impatient_ledger)):
                found = await all_booked(handle, 8)
                assert found.is_sound
                assert found.resumed == 8

    asyncio.run(main())


async def until_begun(handle: Any, count: int) -> None:
    async for state in handle.states():
        if len(state.value["slips"]) == count:
            return


def test_a_stopped_worker_hands_its_effects_back_at_once(ledger: Reducer) -> None:
    async def main() -> None:
        async with client(ledger) as handle:
            stopped = process(ledger)
            await deposit(handle, 8, Work(milliseconds=1000))
            await until_begun(handle, 8)
            stopped.terminate()
            assert await asyncio.to_thread(stopped.wait, 10) == 0
            assert "silent" not in ledger.log
            async with clerk().running(options(ledger)):
                assert (await all_booked(handle, 8)).is_sound

    asyncio.run(main())


@pytest.mark.parametrize("how", ["returns", "sends"])
def test_a_body_that_ends_while_its_worker_stops_has_not_failed(
    ledger: Reducer, caplog: pytest.LogCaptureFixture, how: str
) -> None:
    async def main() -> None:
        ended, stops = list[int](), list[asyncio.Task[bool]]()

        async def body(booking: Booking, me: Effect) -> Booked:
            await me.send(Begun(booking.deposit, 1))
            stops.append(asyncio.create_task(running.close(10)))
            # The task hands the effect back, and the turn after this one would cancel the body.
            await asyncio.sleep(0)
            ended.append(1)
            if how == "sends":
                await me.send(Begun(booking.deposit, 1))
            return Booked(booking.deposit, 1)

        async with client(ledger) as handle:
            async with clerk(body).running(options(ledger)) as running:
                await handle.send(Deposit(1, Work()))
                await until(lambda: bool(stops))
                assert await stops[0]
            assert ended == [1]
            assert not running.figures.attempts
            async with clerk().running(options(ledger)):
                await all_booked(handle, 1)

    asyncio.run(main())
    assert "failed" not in caplog.text
    assert "Traceback" not in caplog.text


def test_another_reducer_takes_over(programs: Path, start_reducer: StartReducer, tmp_path: Path) -> None:
    journal = str(tmp_path / "shared")

    async def main() -> None:
        words = [programs / "loop-reducer", "ledger", "/tmp", "--journal", journal]
        first = start_reducer(*words)
        second = start_reducer(*words, "--standby", until="waiting for it")
        both = f"{first.address},{second.address}"
        async with clerk().running(Options(reducer=both, capacity=64)) as running, Client("ledger", both) as handle:
            await deposit(handle, 30, Work(milliseconds=1000))
            await until(lambda: len(running.machine.running) == 30)
            first.kill()
            found = await all_booked(handle, 30)
            assert found.is_sound
            assert found.resumed == 0
            assert running.machine.place == second.address

    asyncio.run(main())


def test_nothing_is_lost_when_a_third_of_all_frames_is(impatient_ledger: Reducer, monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(7)
    real_read, real_tell, real_send = wire.read, Node.tell, Node._send_batches

    def read(data: bytes, at: int = 0) -> Any:
        if dice.random() < 0.3:
            raise wire.Malformed("lost on the way")
        return real_read(data, at)

    def tell(self: Node, data: bytes) -> None:
        if dice.random() > 0.3:
            real_tell(self, data)

    def send_batches(self: Node) -> None:
        if dice.random() < 0.3:
            self.machine.next_batch()
        else:
            real_send(self)

    monkeypatch.setattr(wire, "read", read)
    monkeypatch.setattr(Node, "tell", tell)
    monkeypatch.setattr(Node, "_send_batches", send_batches)

    async def main() -> None:
        async with clerk().running(options(impatient_ledger)), client(impatient_ledger) as handle:
            for start in range(0, 60, 6):
                await deposit(handle, 6, Work(milliseconds=5), first=1 + start)
            assert (await all_booked(handle, 60)).is_sound

    asyncio.run(main())


def test_plain_functions_run_in_threads(ledger: Reducer) -> None:
    threads = set()

    def body(booking: Booking, me: BlockingEffect) -> Booked:
        threads.add(threading.current_thread().name)
        slip = booking.deposit
        me.send(Begun(booking.deposit, slip))
        me.progress(0.5, "half")
        return Booked(booking.deposit, slip)

    async def main() -> None:
        async with clerk(body).running(options(ledger)), client(ledger) as handle:
            await deposit(handle, 20, Work())
            assert (await all_booked(handle, 20)).is_sound
        assert all(name.startswith("effect") for name in threads)

    asyncio.run(main())


def test_a_thread_learns_that_its_effect_is_cancelled(ledger: Reducer) -> None:
    ended = threading.Event()

    def body(booking: Booking, me: BlockingEffect) -> None:
        me.send(Begun(booking.deposit, 1))
        try:
            while True:
                me.check()
                time.sleep(0.01)
        finally:
            ended.set()

    async def main() -> None:
        async with clerk(body).running(options(ledger)), client(ledger) as handle:
            await handle.send(Deposit(1, Work()))
            # An effect that is cancelled before its thread has begun never begins.
            await until_begun(handle, 1)
            await handle.send(Cancel(2, 1))
            assert await asyncio.to_thread(ended.wait, 10)

    asyncio.run(main())


def test_cancelled_bodies_that_go_on_hold_no_place_of_others_and_are_named(
    ledger: Reducer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loop_worker.worker._LINGERS_AFTER", 0.3)
    go_on, begun = threading.Event(), list[int]()

    def body(booking: Booking, me: BlockingEffect) -> Booked:
        me.send(Begun(booking.deposit, 1))
        if booking.deposit <= 4:
            begun.append(booking.deposit)
            go_on.wait(30)
        return Booked(booking.deposit, 1)

    def lines() -> list[str]:
        return [record.getMessage() for record in caplog.records if "still runs" in record.getMessage()]

    async def main() -> None:
        async with clerk(body).running(options(ledger, capacity=2)) as running, client(ledger) as handle:
            for count in (2, 4):
                await deposit(handle, 2, Work(), count - 1)
                await until(lambda: len(begun) == count)  # noqa: B023
                await asyncio.gather(*(handle.send(Cancel(90 + number, number)) for number in (count - 1, count)))
                if count == 2:
                    await deposit(handle, 3, Work(), 6)
                    await all_booked(handle, 3)
            # Each of these bodies that there are more than places costs a place.
            await until(lambda: running.machine._capacity() == 0)
            await until(lambda: len(lines()) == 4)
            assert "the body of book ledger/" in lines()[0]
            assert lines()[0].endswith("was cancelled 0.3 s ago, still runs, and holds a thread; it should call me.check()")
            go_on.set()
            await deposit(handle, 3, Work(), 9)
            await all_booked(handle, 6)
            await until(lambda: running.machine._capacity() == 2)

    try:
        asyncio.run(main())
    finally:
        go_on.set()


def test_generators_send_each_event(ledger: Reducer) -> None:
    async def body(booking: Booking) -> AsyncIterator[Begun | Booked]:
        yield Begun(booking.deposit, 5)
        yield Booked(booking.deposit, 5)

    def blocking(booking: Booking) -> Iterator[Begun | Booked]:
        yield Begun(booking.deposit, 5)
        yield Booked(booking.deposit, 5)

    async def main(of: Any, first: int) -> None:
        async with clerk(of).running(options(ledger)), client(ledger) as handle:
            await deposit(handle, 5, Work(), first)
            assert (await all_booked(handle, first + 4)).is_sound

    asyncio.run(main(body, 1))
    asyncio.run(main(blocking, 6))


def test_fail_is_final_and_retry_names_a_delay(ledger: Reducer) -> None:
    tries: list[tuple[int, float]] = []

    async def body(booking: Booking, me: Effect) -> Booked:
        tries.append((booking.deposit, time.monotonic()))
        if booking.deposit == 1:
            raise Fail("never")
        if me.failures == 0:
            raise Retry("later", after=0.7)
        await me.send(Begun(booking.deposit, 1))
        return Booked(booking.deposit, 1)

    async def main() -> None:
        async with clerk(body).running(options(ledger)), client(ledger) as handle:
            await deposit(handle, 2, Work())
            async for state in handle.states(Ledger):
                if state.value.booked_count == 1:
                    break
        assert [number for number, _ in tries if number == 1] == [1]
        first, second = [at for number, at in tries if number == 2]
        assert second - first >= 0.7
        assert "never" in ledger.log

    asyncio.run(main())


def test_an_unknown_feedback_is_named_in_the_log(ledger: Reducer, caplog: pytest.LogCaptureFixture) -> None:
    worker = clerk()

    @worker.effect("boook")
    async def misspelt(request: Any) -> None: ...

    async def main() -> None:
        async with worker.running(options(ledger)):
            await until(lambda: "boook" in caplog.text)

    asyncio.run(main())
    assert "the loop has no feedback 'boook'; it has book, hold" in caplog.text


def test_a_body_that_blocks_the_event_loop_is_noticed(impatient_ledger: Reducer, caplog: pytest.LogCaptureFixture) -> None:
    async def body(booking: Booking, me: Effect) -> Booked:
        time.sleep(1)  # noqa: ASYNC251
        return await book(booking, me)

    async def main() -> None:
        async with clerk(body).running(options(impatient_ledger)), client(impatient_ledger) as handle:
            await handle.send(Deposit(1, Work()))
            await all_booked(handle, 1)

    asyncio.run(main())
    assert "an async body blocks it and must be a plain def" in caplog.text


class Waiting(logging.Handler):
    """Waits for a line of the log."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text, self.lines, self.came = text, list[str](), threading.Event()

    def emit(self, record: logging.LogRecord) -> None:
        if self.text in record.getMessage():
            self.lines.append(record.getMessage())
            self.came.set()


def test_a_body_that_blocks_the_event_loop_is_named_with_its_line_while_it_does(ledger: Reducer) -> None:
    log = Waiting("the body of book ledger/")

    async def body(booking: Booking, me: Effect) -> Booked:
        log.came.clear()
        assert log.came.wait(20), "nothing is said while the body blocks"  # this line
        return await book(booking, me)

    async def main() -> None:
        async with clerk(body).running(options(ledger)), client(ledger) as handle:
            for number in (1, 2):
                await handle.send(Deposit(number, Work()))
                await all_booked(handle, number)

    logging.getLogger("loop_worker").addHandler(log)
    try:
        asyncio.run(main())
    finally:
        logging.getLogger("loop_worker").removeHandler(log)
    assert "blocks the event loop" in log.lines[0]
    assert "in body" in log.lines[0]
    assert "# this line" in log.lines[0]


def test_a_plain_body_is_not_blamed_for_a_long_turn(ledger: Reducer, caplog: pytest.LogCaptureFixture) -> None:
    log = Waiting("has no turn")

    class Slow(ThreadPoolExecutor):
        def submit(self, *words: Any, **more: Any) -> Any:
            assert log.came.wait(20), "nothing is said while the thread begins"  # this line
            return super().submit(*words, **more)

    def body(booking: Booking, me: BlockingEffect) -> Booked:
        me.send(Begun(booking.deposit, 1))
        return Booked(booking.deposit, 1)

    async def main() -> None:
        async with clerk(body).running(options(ledger)) as running, client(ledger) as handle:
            running._threads = Slow(1)
            await handle.send(Deposit(1, Work()))
            await all_booked(handle, 1)
            own = threading.get_ident()
            idle = "no line runs on it: a thread holds the interpreter's lock, or the machine is busy"
            await asyncio.to_thread(wait_until, lambda: idle in running._blocked(sys._current_frames()[own]))

    logging.getLogger("loop_worker").addHandler(log)
    try:
        asyncio.run(main())
    finally:
        logging.getLogger("loop_worker").removeHandler(log)
    assert "these lines run on it" in log.lines[0]
    assert "# this line" in log.lines[0]
    assert "must be a plain def" not in caplog.text


def test_a_long_turn_of_the_event_loop_is_said_once() -> None:
    turned_at, looks, said = 1.0, 0, list[float]()
    enough = threading.Event()

    def limit() -> float:
        nonlocal looks
        looks += 1
        if looks % 20 == 0:
            enough.set()
        return 0.001

    def say(_: object) -> str:
        said.append(turned_at)
        return "blocked"

    async def main() -> None:
        nonlocal turned_at
        watchdog = Watchdog(lambda: turned_at, limit, say)
        for turned_at in (1.0, 2.0):  # noqa: B007
            for _ in range(2):
                enough.clear()
                assert enough.wait(20)
        watchdog.close()

    asyncio.run(main())
    assert said == [1.0, 2.0]


@pytest.mark.parametrize("error", [SystemExit("out"), KeyboardInterrupt("out"), KeyError("k")])
@pytest.mark.parametrize("is_plain", [False, True])
def test_a_body_that_raises_anything_has_failed_and_its_traceback_is_logged_once(
    ledger: Reducer, caplog: pytest.LogCaptureFixture, error: BaseException, is_plain: bool
) -> None:
    async def body(booking: Booking, me: Effect) -> Booked:
        if me.failures < 2:
            raise error
        return await book(booking, me)

    def plain(booking: Booking, me: BlockingEffect) -> Booked:
        if me.failures < 2:
            raise error
        me.send(Begun(booking.deposit, 1))
        return Booked(booking.deposit, 1)

    async def main() -> None:
        async with clerk(plain if is_plain else body).running(options(ledger)), client(ledger) as handle:
            await handle.send(Deposit(1, Work()))
            await all_booked(handle, 1)

    asyncio.run(main())
    failures = [record for record in caplog.records if record.levelno == logging.WARNING and "failed" in record.getMessage()]
    assert [bool(record.exc_info) for record in failures] == [True, False]
    for record in failures:
        assert "book ledger/" in record.getMessage()
        assert "out" in record.getMessage() or type(error).__name__ in record.getMessage()


def test_the_text_of_each_failure_is_logged_and_the_traceback_of_each_line_that_raises(
    ledger: Reducer, caplog: pytest.LogCaptureFixture
) -> None:
    async def body(booking: Booking, me: Effect) -> Booked:
        if me.failures == 0:
            raise ValueError("one")
        if me.failures == 1:
            raise ValueError("two")
        if me.failures == 2:
            raise Retry("three")
        return await book(booking, me)

    async def main() -> None:
        async with clerk(body).running(options(ledger)), client(ledger) as handle:
            await handle.send(Deposit(1, Work()))
            await all_booked(handle, 1)

    asyncio.run(main())
    failures = [record for record in caplog.records if " failed: " in record.getMessage()]
    assert [record.getMessage().partition(" failed: ")[2] for record in failures] == ["ValueError: one", "ValueError: two", "three"]
    assert [bool(record.exc_info) for record in failures] == [True, True, False]


def test_of_many_failures_at_once_some_are_logged_and_the_others_counted(
    ledger: Reducer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loop_worker.worker._FAILURES_A_SECOND", 3)
    monkeypatch.setattr("loop_worker.worker._SECOND", 0.2)

    async def body(booking: Booking, me: Effect) -> Booked:
        raise Fail(f"number {booking.deposit}")

    def lines() -> list[str]:
        return [
            record.getMessage()
            for record in caplog.records
            if "failed: number" in record.getMessage() or "more failures" in record.getMessage()
        ]

    async def main() -> None:
        async with clerk(body).running(options(ledger, capacity=64)), client(ledger) as handle:
            for first in range(1, 1_000, 20):
                await deposit(handle, 20, Work(), first)
                if any("more failures" in line for line in lines()):
                    return
        raise AssertionError(lines())

    asyncio.run(main())


@pytest.mark.parametrize("is_last", [True, False])
def test_an_event_that_the_reducer_refuses_is_noticed_at_the_next_try(
    ledger: Reducer, caplog: pytest.LogCaptureFixture, is_last: bool
) -> None:
    async def body(booking: Booking, me: Effect) -> Any:
        if me.failures:
            return await book(booking, me)
        if not is_last:
            await me.send({"boooked": {}})
            await asyncio.sleep(60)
        return {"boooked": {}}

    async def main() -> None:
        async with clerk(body).running(options(ledger)), client(ledger) as handle:
            await handle.send(Deposit(1, Work()))
            await all_booked(handle, 1)

    asyncio.run(main())
    assert caplog.text.count("has one failure more, which no body here has raised: an event of it was refused,") == 1


@pytest.mark.parametrize("how", ["sent", "returned", "returned with others"])
def test_an_event_that_is_too_large_fails_its_attempt_at_the_call(
    ledger: Reducer, caplog: pytest.LogCaptureFixture, how: str
) -> None:
    reached: list[str] = []

    async def body(booking: Booking, me: Effect) -> Any:
        if me.failures:
            return await book(booking, me)
        large = {"booked": "x" * (600 << 10)}
        if how == "sent":
            await me.send(large)
            reached.append("the line after the call")
        return large if how == "returned" else [Begun(booking.deposit, 1), large]

    async def main() -> None:
        async with clerk(body).running(options(ledger)), client(ledger) as handle:
            await handle.send(Deposit(1, Work()))
            assert (await all_booked(handle, 1)).is_sound

    asyncio.run(main())
    assert reached == []
    (line,) = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert "book ledger/" in line
    assert line.endswith("failed: refused: the event is too large: 614413 bytes encoded, the limit is 524288"), line


def test_a_worker_says_that_it_has_joined_and_which_bodies_are_of_another_group(
    ledger: Reducer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    worker = Worker("ledger")
    worker.effect("book", group="warehouse")(book)

    async def main() -> None:
        async with worker.running(options(ledger, name="w1")):
            await until(lambda: "group" in caplog.text)

    asyncio.run(main())
    assert f"worker w1: has joined the reducer at {ledger.address}, with bodies for book" in caplog.text
    assert "the effect 'book' is in the group 'default' of the loop, and its body is in 'warehouse'" in caplog.text


def test_a_feedback_is_named_at_the_decorator() -> None:
    with pytest.raises(Configuration, match="the name of the feedback is <function"):
        Worker("ledger").effect(book)  # type: ignore[arg-type]


def test_a_worker_next_to_something_else_says_why_it_has_ended(ledger: Reducer, caplog: pytest.LogCaptureFixture) -> None:
    worker = Worker("orders")
    worker.effect("book")(book)

    async def main() -> None:
        async with worker.running(options(ledger)):
            await until(lambda: "the loop differs" in caplog.text)

    asyncio.run(main())


def test_a_running_body_hears_newer_requests_and_its_progress_is_in_the_status(ledger: Reducer) -> None:
    heard: list[int] = []

    async def body(booking: Booking, me: Effect) -> None:
        async for newest in me.requests():
            heard.append(newest.work.milliseconds)
            me.progress(0.25, "halfway to half")

    async def main() -> None:
        async with clerk(body).running(options(ledger)) as running, client(ledger) as handle:
            await handle.send(Deposit(1, Work(milliseconds=1)))
            await until(lambda: heard == [1])
            (effect,) = running.machine.running
            # No example changes the request of an effect that runs, so the machine's action is played here.
            running.handle(machine.NewRequest(effect, encode(Booking(1, "", Work(milliseconds=2)))))
            await until(lambda: heard == [1, 2])
            command = [LOOPCTL, "status", "--json", "--reducer", ledger.address]
            await asyncio.to_thread(
                wait_until, lambda: b"halfway to half" in subprocess.run(command, capture_output=True, check=True).stdout
            )

    asyncio.run(main())


def test_a_redirect_to_an_impossible_address_does_not_end_a_worker(ledger: Reducer, caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        async with clerk().running(options(ledger)) as running, client(ledger) as handle:
            await until(lambda: running.machine.is_joined)
            header = wire.Header(running.machine.history, running.machine.epoch, 0)
            running.machine.receive_reply(header, wire.Redirect("tcp://::1"), time.monotonic())
            running.wake()
            await handle.send(Deposit(1, Work()))
            await all_booked(handle, 1)

    asyncio.run(main())
    assert "the address 'tcp://::1' of a reducer cannot be used" in caplog.text


def test_a_worker_without_work_rests_between_ticks(ledger: Reducer) -> None:
    async def main() -> None:
        async with clerk().running(options(ledger)) as running:
            await until(lambda: running.machine.is_joined)
            turns, stamps, take = 0, set(), running._take_turn

            def counted() -> None:
                nonlocal turns
                turns += 1
                take()
                stamps.add(running.machine._echo)

            running._take_turn = counted  # type: ignore[method-assign]
            await until(lambda: len(stamps) == 6)
            assert turns < 100

    asyncio.run(main())


def test_a_failure_whose_text_cannot_be_written_is_a_failure_all_the_same(ledger: Reducer) -> None:
    class Wordless(Exception):
        def __str__(self) -> str:
            raise self.args[0]

    class Unusual(BaseException): ...

    errors = [OSError("caf\udce9"), Wordless(ValueError()), Unusual(), Wordless(SystemExit(3))]

    async def body(booking: Booking, me: Effect) -> Booked:
        me.progress(float("nan"), "caf\udce9")
        if not me.failures:
            raise errors[booking.deposit - 1]
        return await book(booking, me)

    async def main() -> None:
        async with clerk(body).running(options(ledger)), client(ledger) as handle:
            await deposit(handle, 4, Work())
            await all_booked(handle, 4)

    asyncio.run(main())


def test_a_failure_whose_text_has_several_lines_is_one_line(ledger: Reducer, caplog: pytest.LogCaptureFixture) -> None:
    async def body(booking: Booking, me: Effect) -> Booked:
        if not me.failures:
            raise Retry("one\nworker b1: two")
        return await book(booking, me)

    async def main() -> None:
        async with clerk(body).running(options(ledger)), client(ledger) as handle:
            await deposit(handle, 1, Work())
            await all_booked(handle, 1)

    asyncio.run(main())
    assert r"failed: one\nworker b1: two" in caplog.text


def test_a_thread_that_waits_for_an_outcome_ends_with_its_worker(ledger: Reducer) -> None:
    ended: list[BaseException] = []
    is_sent = threading.Event()

    def body(booking: Booking, me: BlockingEffect) -> None:
        me.send(Begun(booking.deposit, 1))
        assert is_sent.wait(20)
        os.kill(ledger.process.pid, signal.SIGSTOP)
        try:
            me.confirm(Begun(booking.deposit, 1))
        except BaseException as error:
            ended.append(error)

    async def main() -> None:
        async with clerk(body).running(options(ledger, stop_limit=0.2)) as running, client(ledger, stop_limit=0.2) as handle:
            await handle.send(Deposit(1, Work()))
            is_sent.set()
            await until(lambda: any(entry.flags & wire.WANTS_SEQ for entry in running.machine.outbox.unsettled()))
        await until(lambda: [type(error) for error in ended] == [Cancelled])

    asyncio.run(main())


def test_a_reducer_that_names_an_unusable_address_once_is_found_afterwards(ledger: Reducer) -> None:
    async def main() -> None:
        async with clerk().running(options(ledger)) as running, client(ledger) as handle:
            await until(lambda: running.machine.is_joined)
            running._connect(wire.Introduction("ledger", 1, 0, "ipc:///nowhere", "nowhere", 1000))
            await handle.send(Deposit(1, Work()))
            await all_booked(handle, 1)

    asyncio.run(main())


def test_a_worker_whose_stop_is_cancelled_has_stopped(ledger: Reducer) -> None:
    async def main() -> None:
        running = RunningWorker(clerk(), options(ledger))
        await running.open()
        await until(lambda: running.machine.is_joined)
        ledger.freeze()
        stop = asyncio.ensure_future(running.close(60))
        await asyncio.sleep(0)
        stop.cancel()
        await asyncio.wait([stop])
        assert running.over.done()

    asyncio.run(main())
