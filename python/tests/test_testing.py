"""What users test their bodies with, and what surrounds bodies."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import os
import threading
from collections.abc import AsyncIterator, Generator, Iterator
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing import get_context
from typing import Any

import pytest
from conftest import Booked, Booking, Deposit, Work, all_booked, clerk, client, options

from loop_worker import BlockingEffect, Case, Configuration, Effect, Fail, LoopError, Misfit, Refusal, Refused, Retry, Worker
from loop_worker.pytest_plugin import StartReducer
from loop_worker.testing import Reducer, run
from loop_worker.worker import Call


@dataclass
class Order:
    number: str
    customer: str


class Shipped(Case):
    number: str
    parcel: str


async def ship(order: Order, me: Effect) -> Shipped:
    if me.failures < 2:
        raise Retry("the warehouse is closed", after=5)
    me.progress(0.5, me.key)
    return Shipped(order.number, "parcel-1")


ORDER = Order("1", "Ada")


def test_a_body_runs_without_a_reducer() -> None:
    done = run(ship, ORDER, failures=2)
    assert done.events == [Shipped("1", "parcel-1")]
    assert done.progress == [(0.5, "test/0000000000000000/0.1.0")]
    failed = run(ship, ORDER)
    assert (failed.events, str(failed.error), failed.retry_after, failed.is_final) == ([], "the warehouse is closed", 5, False)


def test_every_kind_of_body_runs() -> None:
    def plain(order: Order) -> list[Shipped]:
        return [Shipped(order.number, "a"), Shipped(order.number, "b")]

    def generator(order: Order, me: BlockingEffect) -> Iterator[Shipped]:
        yield Shipped(order.number, "a")
        me.send(Shipped(order.number, "b"))

    async def stream(order: Order) -> AsyncIterator[Shipped]:
        for parcel in "ab":
            yield Shipped(order.number, parcel)

    for body in (plain, generator, stream):
        assert run(body, ORDER).events == [Shipped("1", "a"), Shipped("1", "b")]

    def failing(order: Order) -> None:
        raise Fail("no such order")

    assert run(failing, ORDER).is_final


def test_a_body_follows_its_requests_until_it_is_cancelled() -> None:
    async def follow(order: Order, me: Effect) -> None:
        async for newest in me.requests():
            await me.send(Shipped(newest.number, newest.customer))

    assert run(follow, ORDER, updates=[Order("1", "Bob"), Order("1", "Eve")]).events == [
        Shipped("1", "Ada"),
        Shipped("1", "Bob"),
        Shipped("1", "Eve"),
    ]


def test_a_cancelled_thread_is_told() -> None:
    def wait(order: Order, me: BlockingEffect) -> None:
        while True:
            me.check()

    assert run(wait, ORDER, cancel_after=0.05).events == []


def test_what_a_body_sends_or_returns_after_its_cancellation_is_no_event() -> None:
    refused: list[int] = []

    async def late(order: Order, me: Effect) -> Shipped:
        await me.send(Shipped("1", "in time"))
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        for send in (me.send, me.confirm):
            try:
                await send(Shipped("1", "late"))
            except Refused as error:
                refused.append(error.code)
        return Shipped("1", "late")

    assert run(ship, ORDER, failures=2, cancel_after=0.05).events == [Shipped("1", "parcel-1")]
    done = run(late, ORDER, cancel_after=0.05)
    assert (done.events, done.error, refused) == ([Shipped("1", "in time")], None, [Refusal.STALE] * 2)


def test_a_thread_that_sends_while_it_is_cancelled_ends() -> None:
    def flood(order: Order, me: BlockingEffect) -> None:
        while True:
            me.send(Shipped("1", "a"))

    assert run(flood, ORDER, cancel_after=0.05).error is None


def test_a_generator_whose_events_end_early_is_closed_in_its_thread_before_the_attempt_ends() -> None:
    threads: list[bool] = []

    def note() -> None:
        threads.append(threading.current_thread() is threading.main_thread())

    def plain(order: Order, me: BlockingEffect) -> Iterator[Any]:
        try:
            while True:
                yield Shipped("1", "a") if me.failures else object()
        finally:
            note()

    async def stream(order: Order, me: Effect) -> AsyncIterator[Any]:
        try:
            while True:
                yield Shipped("1", "a") if me.failures else object()
        finally:
            await asyncio.sleep(0)
            note()

    seen: list[int] = []
    worker = Worker("orders")

    @worker.middleware
    async def around(request: Any, me: Effect, call: Call) -> Any:
        try:
            return await call(request, me)
        finally:
            seen.append(len(threads))

    for failures in (0, 1):
        run(plain, ORDER, failures=failures, cancel_after=0.05)
        run(stream, ORDER, failures=failures, cancel_after=0.05, worker=worker)
    assert threads == [False, True, False, True]
    assert seen == [2, 4]


def test_what_a_generator_returns_is_its_last_event() -> None:
    def generator(order: Order) -> Generator[Shipped, None, Shipped]:
        yield Shipped("1", "a")
        return Shipped("1", "b")

    assert run(generator, ORDER).events == [Shipped("1", "a"), Shipped("1", "b")]


def test_a_middleware_that_does_not_return_an_event_is_named() -> None:
    worker, results = Worker("orders"), list[Any]([None, []])

    @worker.middleware
    async def forgetful(request: Any, me: Effect, call: Call) -> Any:
        await call(request, me)
        return results[me.failures - 2]

    assert "the middleware forgetful returns None for what call has returned" in str(
        run(ship, ORDER, failures=2, worker=worker).error
    )
    dropped = run(ship, ORDER, failures=3, worker=worker)
    assert (dropped.events, dropped.error) == ([], None)


def test_a_stop_iteration_in_a_plain_body_is_an_error() -> None:
    def nothing(order: Order) -> int:
        return next(iter([]))

    assert str(run(nothing, ORDER).error) == "the body raised StopIteration"


def test_a_delay_is_a_day_at_most() -> None:
    assert [Retry(after=seconds).after for seconds in (0, 60, 1e300, timedelta(minutes=1))] == [0, 60, 86_400, 60]


def test_what_cannot_be_sent_is_an_error_in_the_test() -> None:
    async def bad(order: Order) -> object:
        return object()

    assert isinstance(run(bad, ORDER).error, Misfit)


def test_an_event_that_is_too_large_is_an_error_in_the_test() -> None:
    async def sends(order: Order, me: Effect) -> None:
        await me.send("x" * (600 << 10))

    async def returns(order: Order) -> str:
        return "x" * (600 << 10)

    for body in (sends, returns):
        done = run(body, ORDER)
        assert str(done.error).startswith("refused: the event is too large: 6144")
        assert done.events == []


async def halfway(order: Order, me: Effect) -> None:
    half: Any = "half"
    me.progress(half)


def halfway_in_a_thread(order: Order, me: BlockingEffect) -> None:
    half: Any = "half"
    me.progress(half)


@pytest.mark.parametrize("body", [halfway, halfway_in_a_thread])
def test_a_progress_that_is_no_number_is_an_error_of_the_body(body: Any) -> None:
    assert str(run(body, ORDER).error) == "fraction is 'half'; give a number from 0 to 1"


def test_middleware_surrounds_each_body_in_its_order() -> None:
    worker = Worker("orders")
    seen: list[str] = []

    def named(name: str) -> None:
        @worker.middleware
        async def around(request: Any, me: Effect, call: Call) -> Any:
            seen.append(f"{name} before {me.feedback}")
            result = await call(request, me)
            seen.append(f"{name} after")
            return result

    named("outer")
    named("inner")
    assert run(ship, ORDER, failures=2, worker=worker).events == [Shipped("1", "parcel-1")]
    assert seen == ["outer before test", "inner before test", "inner after", "outer after"]


def test_a_body_that_cannot_be_registered_is_an_error_at_once() -> None:
    worker = Worker("orders")
    worker.effect("ship")(ship)
    with pytest.raises(Configuration, match="the effect 'ship' has two bodies"):
        worker.effect("ship")(ship)
    with pytest.raises(Configuration, match="a body takes the request"):
        worker.effect("x")(lambda: None)

    async def opaque(request: complex) -> None: ...

    with pytest.raises(Configuration, match="the effect 'y': <class 'complex'> cannot be read"):
        worker.effect("y")(opaque)


def test_a_body_gets_the_effect_as_its_second_parameter_if_that_is_called_me() -> None:
    def with_client(order: Order, client: str = "mine") -> Shipped:
        return Shipped("1", client)

    def with_both(order: Order, me: BlockingEffect, client: str = "mine", *, more: str = "") -> Shipped:
        return Shipped(me.feedback, client + more)

    assert run(with_client, ORDER).events == [Shipped("1", "mine")]
    assert run(with_both, ORDER).events == [Shipped("test", "mine")]

    def keyword(order: Order, *, me: Effect) -> None: ...
    def third(order: Order, client: str = "", me: Any = None) -> None: ...
    def first(me: Effect) -> None: ...
    def renamed(order: Order, context: Effect) -> None: ...
    def any_of_them(*words: Any, **more: Any) -> None: ...

    for body in (keyword, third, first, renamed, any_of_them):
        with pytest.raises(Configuration, match=f"may take `me` as the second parameter; .*: def {body.__name__}.request, me"):
            Worker("orders").effect("x")(body)


def test_a_program_that_is_not_there_is_named_with_what_to_do(start_reducer: StartReducer) -> None:
    with pytest.raises(LoopError, match="no-such-reducer cannot be started: .*; build it .*, and put its folder into PATH"):
        start_reducer("no-such-reducer", "ledger")


def test_a_body_is_a_function() -> None:
    with pytest.raises(Configuration, match="the body of 'x' is functools.partial.*; give a function, such as async def x"):
        Worker("orders").effect("x")(functools.partial(ship))
    with pytest.raises(Configuration, match="the body of 'x' is <class .*; give a function"):
        Worker("orders").effect("x")(Order)


def test_only_the_type_of_the_request_has_to_be_known() -> None:
    async def one(order: Order, me: Nowhere) -> Nowhere: ...  # type: ignore[name-defined]  # noqa: F821
    async def two(order: Nowhere) -> None: ...  # type: ignore[name-defined]  # noqa: F821

    worker = Worker("orders")
    worker.effect("one")(one)
    with pytest.raises(Configuration, match="the effect 'two': the type of order, 'Nowhere', is not known: name 'Nowhere' is not"):
        worker.effect("two")(two)


def test_a_plain_body_that_returns_a_coroutine_is_told_to_await_it() -> None:
    async def body(order: Order) -> None: ...

    def wrapper(order: Order) -> Any:
        return body(order)

    assert "await it in an async def" in str(run(wrapper, ORDER).error)


def test_what_a_body_in_a_thread_cannot_do_says_so() -> None:
    def follow(order: Order, me: BlockingEffect) -> None:
        me.requests()

    def note(order: Order, me: BlockingEffect) -> None:
        text: Any = 5
        me.progress(0.5, text)

    async def note_too(order: Order, me: Effect) -> None:
        text: Any = 5
        me.progress(0.5, text)

    assert str(run(follow, ORDER).error) == "me.requests() is for async bodies; in a thread, me.request is the newest one"
    assert str(run(note, ORDER).error) == "text is 5; give a text"
    assert str(run(note_too, ORDER).error) == "text is 5; give a text"


def in_a_process(booking: Booking) -> Booked:
    return Booked(booking.deposit, 0)


def test_a_body_runs_in_another_process(ledger: Reducer) -> None:
    async def main() -> None:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            worker = Worker("ledger")
            worker.effect("book", pool=pool)(in_a_process)
            async with worker.running(options(ledger)), client(ledger) as handle:
                await handle.send(Deposit(1, Work()))
                await all_booked(handle, 1)

    asyncio.run(main())


def dies(booking: Booking) -> None:
    os._exit(1)


def test_a_worker_whose_pool_is_broken_ends(ledger: Reducer) -> None:
    async def main() -> None:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            worker = Worker("ledger")
            worker.effect("book", pool=pool)(dies)
            async with worker.running(options(ledger)) as running, client(ledger) as handle:
                await handle.send(Deposit(1, Work()))
                with pytest.raises(LoopError, match="the pool of the effect 'book' is broken"):
                    await asyncio.wait_for(asyncio.shield(running.over), 20)

    asyncio.run(main())


@pytest.mark.parametrize("pool", [None, ThreadPoolExecutor(1)])
def test_a_worker_goes_on_if_a_pool_of_the_body_itself_is_broken(ledger: Reducer, pool: ThreadPoolExecutor | None) -> None:
    def body(booking: Booking, me: BlockingEffect) -> Booked:
        if not me.failures:
            raise BrokenExecutor("another pool")
        return Booked(booking.deposit, 0)

    async def main() -> None:
        worker = Worker("ledger")
        worker.effect("book", pool=pool)(body)
        async with worker.running(options(ledger)), client(ledger) as handle:
            await handle.send(Deposit(1, Work()))
            await all_booked(handle, 1)

    asyncio.run(main())


def test_a_request_of_another_type_fails_for_good_and_is_logged(ledger: Reducer, caplog: pytest.LogCaptureFixture) -> None:
    async def body(order: Order) -> None: ...

    async def main() -> None:
        async with clerk(body).running(options(ledger)), client(ledger) as handle:
            await handle.send(Deposit(1, Work()))
            while "not of the type of this body: Order needs 'number'" not in ledger.log:
                await asyncio.sleep(0.02)

    asyncio.run(main())
    (line,) = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert "book ledger/" in line
    assert line.endswith(
        "the request is not of the type of this body: Order needs 'number', and there is 'work', 'folder', 'deposit'"
    )
