"""For tests of workers: a body without a reducer, and a reducer of your own as a process.

from loop_worker.testing import run

def test_an_order_is_shipped() -> None:
    assert run(ship, Order("1", "Ada")).events == [Shipped("1", "parcel-1")]
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import wire
from .errors import Cancelled, Fail, LoopError, Refusal, Refused, Retry
from .machine import EVENT_BYTES_MAX, Settled, too_large
from .values import encode
from .worker import Body, Effect, Registered, Worker


@dataclass
class Run:
    """What a body has done."""

    events: list[Any] = field(default_factory=list)
    """What it has sent, in order, with what it has returned. After a cancellation there are none."""
    progress: list[tuple[float, str]] = field(default_factory=list)
    error: BaseException | None = None
    """What it has raised: the attempt has failed."""
    is_final: bool = False
    """Whether a retry cannot help."""
    retry_after: float | None = None
    """The earliest next try that it asks for, in seconds."""


class _Recorder:
    """Where the events of a body go in a test."""

    def __init__(self, run: Run, key: str) -> None:
        self.run, self._key = run, key

    def key(self, effect: bytes) -> str:
        return self._key

    def report(self, held: bytes, fraction: float, text: str) -> None:
        self.run.progress.append((fraction, text))

    async def send(self, held: bytes, event: bytes, confirmed: asyncio.Future[Settled] | None) -> None:
        _check_size(event)
        await asyncio.sleep(0)
        if confirmed is not None:
            confirmed.set_result(Settled(confirmed, 0, len(self.run.events) + 1, "", None))


class _Recorded(Effect):
    """An effect that keeps the events themselves. They must be values that can be sent."""

    __slots__ = ("recorder",)
    recorder: _Recorder

    async def send(self, event: object) -> None:
        if self.is_over:
            raise Refused(Refusal.STALE)
        await super().send(event)
        self.recorder.run.events.append(event)

    async def confirm(self, event: object) -> int:
        if self.is_over:
            raise Refused(Refusal.STALE)
        seq = await super().confirm(event)
        self.recorder.run.events.append(event)
        return seq


def _check_size(event: bytes) -> None:
    if len(event) > EVENT_BYTES_MAX:
        raise too_large(len(event), EVENT_BYTES_MAX)


def run(
    body: Body,
    request: Any,
    *,
    failures: int = 0,
    resumed: bool = False,
    key: str = "test/0000000000000000/0.1.0",
    updates: Sequence[Any] = (),
    cancel_after: float | None = None,
    worker: Worker | None = None,
) -> Run:
    """Runs a body, without a reducer, and returns what it has done.

    `failures` is how often the effect has failed before, `updates` are newer requests, after which the effect is cancelled, and
    `cancel_after` is when it is cancelled, in seconds. With a `worker`, its middleware runs too.
    """
    result = Run()
    recorder = _Recorder(result, key)
    grant = wire.Grant(bytes(16), bytes(16), 1, failures, resumed, b"")
    me = _Recorded(recorder, "test", grant, lambda value: value, request)
    me.recorder = recorder

    async def attempt(threads: ThreadPoolExecutor) -> None:
        call = (worker or Worker("test")).call(Registered("test", "default", body, None), lambda: threads)

        async def returned_in_time() -> Any:
            events = await call(request, me)
            return None if me.is_over else events

        task = asyncio.ensure_future(returned_in_time())
        for update in updates:
            await asyncio.sleep(0.01)
            me.replace(update)
        if cancel_after is not None:
            await asyncio.wait([task], timeout=cancel_after)
            me.end()
            task.cancel()
        elif updates:
            # Without an end, a body that follows its requests would never return.
            await asyncio.sleep(0.01)
            me.end()
        try:
            events = await task
            returned = [] if events is None else events if type(events) in (list, tuple) else [events]
            for event in returned:
                _check_size(encode(event))
            result.events += returned
        except asyncio.CancelledError:
            if not me.is_over:
                raise
        except (Exception, Cancelled) as error:
            result.error = error
            result.is_final = isinstance(error, Fail)
            result.retry_after = error.after if isinstance(error, Retry) else None
        finally:
            # A thread that ends may still wait for this event loop.
            await asyncio.to_thread(threads.shutdown)

    asyncio.run(attempt(ThreadPoolExecutor(1)))
    return result


class Reducer:
    """A reducer as a process of this machine: its journal is in `folder`, and its address stays when it is started again."""

    def __init__(
        self, command: Sequence[str | os.PathLike[str]], folder: Path, *, address: str | None = None, until: str = "listening at "
    ) -> None:
        """`command` is the program with its arguments, without `--bind`, and without `--journal` if that is to be in the folder.

        Waits until it has said `until`. Raises `LoopError` if it is not there, ends before, or takes longer than 20 s.
        """
        self.folder = folder
        self.address = address or f"ipc://{folder}/reducer"
        self._command = [*map(str, command), "--bind", self.address]
        if "--journal" not in self._command:
            self._command += ["--journal", str(folder / "journal")]
        self._until = until
        self.log_path = folder / "reducer.log"
        self.start()

    def start(self) -> None:
        """Starts it, or starts it again from its journal, and waits until it has said something."""
        with self.log_path.open("wb") as log:
            try:
                self.process = subprocess.Popen(self._command, stdout=log, stderr=log)
            except OSError as error:
                how = "build it (swift build, or make build for loop-reducer), and put its folder into PATH"
                raise LoopError(f"{self._command[0]} cannot be started: {error.strerror}; {how}") from None
        end = time.monotonic() + 20
        while self._until not in self.log:
            if self.process.poll() is not None or time.monotonic() > end:
                self.kill()
                raise LoopError(f"{self._command[0]} does not say {self._until!r}: {self.log or 'it says nothing'}")
            time.sleep(0.01)

    @property
    def log(self) -> str:
        """What it has said since its start."""
        return self.log_path.read_text(encoding="utf-8", errors="replace")

    def kill(self) -> None:
        """Kills it, as a loss of power would."""
        self.process.kill()
        self.process.wait()

    def freeze(self) -> None:
        """Stops the process, until `thaw`. It is stopped when this returns."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WNOWAIT)

    def thaw(self) -> None:
        """Lets it continue."""
        self.process.send_signal(signal.SIGCONT)


async def until(condition: Callable[[], bool], limit: float = 20) -> None:
    """Waits until a condition holds. Raises `TimeoutError` if it does not within `limit` seconds."""
    end = time.monotonic() + limit
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"not so within {limit:g} s")
        await asyncio.sleep(0.01)
