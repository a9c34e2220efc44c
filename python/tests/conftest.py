"""What the tests share: the programs of this clone, and the ledger, a loop that counts every violation."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from loop_worker import Case, Client, Effect, Options, Retry, Worker
from loop_worker.pytest_plugin import StartReducer
from loop_worker.testing import Reducer

ROOT = Path(__file__).parents[2]


@dataclass
class Work:
    milliseconds: int = 0
    failures: int = 0


@dataclass
class Booking:
    deposit: int
    folder: str
    work: Work


class Deposit(Case):
    number: int
    work: Work


class Cancel(Case):
    number: int
    deposit: int


class Begun(Case):
    deposit: int
    slip: int


class Booked(Case):
    deposit: int
    slip: int


@dataclass
class Receipt:
    number: int
    open: int


@dataclass
class Ledger:
    """The ledger's state, as far as these tests look at it."""

    open: dict[int, Booking]
    booked: list[int]
    doubles: int
    stale: int
    torn: int
    missing: int
    resumed: int
    late: int

    @property
    def is_sound(self) -> bool:
        """Whether nothing was lost, doubled, stale, or done by two attempts at once."""
        return (self.doubles, self.stale, self.torn, self.missing) == (0, 0, 0, 0)

    @property
    def booked_count(self) -> int:
        """How many deposits are booked."""
        # A set of numbers is an array of distances, two for each range: from the end before it to its start, and to its own end.
        return sum(length + 1 for length in self.booked[1::2])


async def book(booking: Booking, me: Effect) -> Booked:
    """What the ledger's own worker does, without its page."""
    slip = random.getrandbits(63)
    await me.send(Begun(booking.deposit, slip))
    await asyncio.sleep(booking.work.milliseconds / 1000)
    if me.failures < booking.work.failures:
        raise Retry("the trouble that the deposit asked for")
    return Booked(booking.deposit, slip)


def clerk(body: Callable[..., Any] = book) -> Worker:
    worker = Worker("ledger")
    worker.effect("book")(body)
    return worker


@pytest.fixture(scope="session")
def programs() -> Path:
    folder = Path(os.environ.get("LOOP_PROGRAMS", ROOT / ".build/debug"))
    assert (folder / "loop-reducer").exists(), f"{folder} has no loop-reducer: build the project, or name a folder by LOOP_PROGRAMS"
    return folder


@pytest.fixture
def ledger(programs: Path, start_reducer: StartReducer) -> Reducer:
    """A reducer of the ledger. Its silence limit is the usual one, so that a busy machine costs no worker its effects."""
    return start_reducer(programs / "loop-reducer", "ledger", "/tmp")


@pytest.fixture
def impatient_ledger(programs: Path, start_reducer: StartReducer) -> Reducer:
    """A reducer of the ledger with a short silence limit, for tests that wait until a process is missed."""
    return start_reducer(programs / "loop-reducer", "ledger", "/tmp", "--silence-limit", "600ms")


def options(reducer: Reducer, **more: Any) -> Options:
    return Options(reducer=reducer.address, **more)


def client(reducer: Reducer, **more: Any) -> Client:
    return Client("ledger", reducer.address, **more)


async def all_booked(handle: Client, count: int, limit: float = 30) -> Ledger:
    """The state in which `count` deposits are booked, and none is open."""

    async def find() -> Ledger:
        async for state in handle.states(Ledger):
            found: Ledger = state.value
            if not found.open and found.booked_count == count:
                return found
        raise AssertionError("the states have ended")

    return await asyncio.wait_for(find(), limit)
