"""What a worker answers over HTTP."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import socket
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from conftest import Booking, Deposit, Work, all_booked, clerk, client, options

from loop_worker import Configuration, Options, Worker
from loop_worker.health import Place
from loop_worker.testing import Reducer, until
from loop_worker.worker import RunningWorker


def ask(address: str, path: str, **headers: str) -> tuple[int, str]:
    request = urllib.request.Request(address + path, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def address(caplog: pytest.LogCaptureFixture) -> str:
    [text] = [record.getMessage() for record in caplog.records if "answers at" in record.getMessage()]
    return text.rsplit(" ", 1)[1].rstrip("/")


def at(reducer: Reducer, **more: Any) -> Options:
    return dataclasses.replace(options(reducer), http="127.0.0.1:0", **more)


def test_a_worker_says_that_it_is_ready_and_counts_what_it_does(
    impatient_ledger: Reducer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "loop_worker")

    async def main() -> None:
        async with clerk().running(at(impatient_ledger)), client(impatient_ledger) as handle:
            place = address(caplog)
            for number, failures in ((1, 0), (2, 1)):
                await handle.send(Deposit(number, Work(failures=failures)))
            await all_booked(handle, 2)
            assert (await asyncio.to_thread(ask, place, "/livez")) == (200, "turns go on\n")
            status, text = await asyncio.to_thread(ask, place, "/readyz")
            assert (status, text) == (200, f"it is in contact with the reducer at {impatient_ledger.address}\n")
            status, text = await asyncio.to_thread(ask, place, "/metrics")
            lines = text.splitlines()
            assert 'loop_peer_attempts_total{feedback="book",outcome="completed"} 2' in lines
            assert 'loop_peer_attempts_total{feedback="book",outcome="failed"} 1' in lines
            assert 'loop_effect_run_seconds_bucket{feedback="book",le="+Inf"} 3' in lines
            assert 'loop_peer_info{loop="ledger"} 1' in lines
            page = (Path(__file__).parents[2] / "docs/health.md").read_text()
            names = {line.split()[2] for line in lines if line.startswith("# TYPE ")}
            assert [name for name in names if f"`{name}" not in page] == []
            assert {"loop_up 1", "loop_ready 1", "loop_peer_running 0"} <= set(lines)
            losses = [line for line in lines if line.startswith("loop_peer_contact_lost_total")]
            assert len(losses) == 6
            assert all(line.endswith(" 0") for line in losses)
            impatient_ledger.kill()
            await asyncio.wait_for(until_not_ready(place), 20)
            _, text = await asyncio.to_thread(ask, place, "/metrics")
            assert 'loop_peer_contact_lost_total{reason="silence"} 1' in text.splitlines()
        with pytest.raises(OSError):  # noqa: PT011
            ask(place, "/livez")

    asyncio.run(main())


async def until_not_ready(place: str) -> None:
    while (await asyncio.to_thread(ask, place, "/readyz"))[0] == 200:
        await asyncio.sleep(0.01)


def test_a_body_that_blocks_the_event_loop_shows(ledger: Reducer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "loop_worker")
    worker = Worker("ledger")
    answers: list[tuple[int, str]] = []

    @worker.effect("book")
    async def block(booking: Booking) -> None:
        place = address(caplog)
        with ThreadPoolExecutor() as pool:
            answers.extend(pool.map(lambda path: ask(place, path), ("/livez", "/metrics")))

    async def main() -> None:
        async with worker.running(at(ledger)), client(ledger) as handle:
            await handle.send(Deposit(1, Work()))
            await until(lambda: bool(answers))

    asyncio.run(main())
    assert answers[0][0] == 503
    assert "a body blocks" in answers[0][1]
    assert "loop_up 0" in answers[1][1]


def test_a_request_needs_the_token_and_the_name_of_the_server(
    ledger: Reducer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "loop_worker")
    file = tmp_path / "token"
    file.write_text("0123456789abcdef\n")

    async def main() -> None:
        async with clerk().running(at(ledger, http_token=str(file))):
            place = address(caplog)

            def seen(path: str, **headers: str) -> int:
                return ask(place, path, **headers)[0]

            for given, status in (("Bearer 0123456789abcdef", 200), ("bearer 0123456789abcdef", 200), ("Bearer x", 401)):
                assert await asyncio.to_thread(seen, "/livez", Authorization=given) == status
            assert await asyncio.to_thread(seen, "/livez") == 401
            good = {"Authorization": "Bearer 0123456789abcdef"}
            assert await asyncio.to_thread(lambda: seen("/leader", **good)) == 404
            assert await asyncio.to_thread(lambda: seen("/livez", Host="evil.example", **good)) == 421

    asyncio.run(main())


@pytest.mark.parametrize(
    ("place", "token", "why"),
    [
        ("9710", None, "'9710' is no address for HTTP"),
        ("127.0.0.1:70000", None, "no address for HTTP"),
        ("0.0.0.0:9710", None, "can be reached from other machines"),
        ("0.0.0.0:9710", "short", "is no token: a token has 16 or more"),
        ("0.0.0.0:9710", "", "could not be read"),
    ],
)
def test_what_cannot_be_used_says_why(place: str, token: str | None, why: str, tmp_path: Path) -> None:
    file = tmp_path / "token"
    if token:
        file.write_text(token + "\n")
    with pytest.raises(Configuration, match=why):
        Place(place, None if token is None else str(file))


def test_a_port_that_is_taken_is_an_error_of_the_start(ledger: Reducer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "loop_worker")

    async def main() -> None:
        async with clerk().running(at(ledger)):
            taken = address(caplog).removeprefix("http://")
            with pytest.raises(Configuration, match="cannot listen for HTTP"):
                async with clerk().running(dataclasses.replace(options(ledger), http=taken)):
                    pass

    began = time.monotonic()
    asyncio.run(main())
    assert time.monotonic() - began < 30


def test_a_port_in_use_is_the_only_thing_that_is_said(ledger: Reducer, caplog: pytest.LogCaptureFixture) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        running = RunningWorker(clerk(), dataclasses.replace(options(ledger), http=f"127.0.0.1:{other.getsockname()[1]}"))

        async def main() -> None:
            with pytest.raises(Configuration, match="in use"):
                await running.open()
            # The turns that were due.
            await asyncio.sleep(0)
            await asyncio.sleep(0)

        asyncio.run(main())
    assert "a turn failed" not in caplog.text
