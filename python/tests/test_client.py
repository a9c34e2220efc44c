"""Clients with a real reducer: what they send is applied once, and what they read is what they were promised."""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
import sqlite3
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest
from conftest import Deposit, Ledger, Receipt, Work, all_booked, clerk, client, options

from loop_worker import (
    Case,
    Client,
    Configuration,
    Ended,
    Misfit,
    NoReducer,
    NotAdmitted,
    Refusal,
    Refused,
    State,
    Tracked,
    Unanswered,
    encode,
    wire,
)
from loop_worker.outbox_file import OutboxFile
from loop_worker.pytest_plugin import StartReducer
from loop_worker.testing import Reducer, until


class Hold(Case):
    count: int


class Unknown(Case):
    pass


def test_a_sender_learns_where_its_event_was_applied_and_reads_what_it_has_written(ledger: Reducer) -> None:
    async def main() -> None:
        async with client(ledger) as writer, client(ledger) as reader:
            ids = [await writer.send(Deposit(number, Work())) for number in (1, 2, 3)]
            assert [one.seq for one in ids] == [1, 2, 3]
            found = await reader.state(Ledger, at_least=ids[-1])
            assert found.seq >= 3
            assert set(found.value.open) == {1, 2, 3}
            await writer.send(Deposit(4, Work()))
            current = await reader.current_state(Ledger)
            assert set(current.value.open) == {1, 2, 3, 4}

    asyncio.run(main())


def test_an_answer_is_of_the_state_right_after_its_event(ledger: Reducer) -> None:
    async def main() -> None:
        async with client(ledger) as handle:
            assert await handle.ask(Deposit(1, Work()), Receipt) == Receipt(1, 1)
            assert await handle.ask(Deposit(2, Work()), Receipt) == Receipt(2, 2)
            with pytest.raises(Unanswered, match="applied at seq 3, and has no answer: the definition answers nothing to it"):
                await handle.ask(Hold(0))

    asyncio.run(main())


def test_a_refusal_says_why(ledger: Reducer) -> None:
    async def main() -> None:
        async with client(ledger) as handle:
            with pytest.raises(Refused) as error:
                await handle.send(Unknown())
            assert error.value.code == Refusal.UNDECODABLE
            assert 'no such case of Event: "unknown"' in str(error.value)
            with pytest.raises(Refused) as error:
                await handle.send({"deposit": "x" * 600_000})
            assert error.value.code == Refusal.TOO_LARGE

    asyncio.run(main())


def test_states_come_in_order_and_transitions_name_their_events(ledger: Reducer) -> None:
    async def main() -> None:
        async with client(ledger) as handle:
            seqs: list[int] = []

            async def follow() -> None:
                async for state in handle.states(Ledger):
                    seqs.append(state.seq)
                    if state.seq >= 20:
                        return

            events: list[tuple[int, int]] = []

            async def note() -> None:
                async for transition in handle.transitions(Deposit):
                    events.append((transition.seq, transition.event.number))
                    assert transition.missed == 0
                    if transition.seq == 20:
                        return

            tasks = asyncio.gather(follow(), note())
            # The subscription is there once one transition was heard.
            number = 0
            while not events:
                number += 1
                await handle.send(Deposit(number, Work()))
                await asyncio.sleep(0.05)
            for _ in range(20 - number):
                number += 1
                await handle.post(Deposit(number, Work()))
            await asyncio.wait_for(tasks, 20)
            assert seqs == sorted(set(seqs))
            assert events[-1] == (20, 20)
            assert [seq for seq, _ in events] == list(range(events[0][0], 21))

    asyncio.run(main())


def test_a_state_that_is_larger_than_a_message_is_fetched_in_parts(programs: Path, start_reducer: StartReducer) -> None:
    # Each open deposit has the folder of its page.
    reducer = start_reducer(programs / "loop-reducer", "ledger", "/" + "x" * 120_000)

    async def main() -> None:
        async with client(reducer) as handle:
            await asyncio.gather(*(handle.send(Deposit(number, Work())) for number in range(1, 20)))
        async with client(reducer) as late:
            found = await late.state(Ledger)
            assert len(encode(found.value)) > 2 << 20
            assert len(found.value.open) == 19

    asyncio.run(main())


def test_states_go_on_in_the_next_epoch(ledger: Reducer) -> None:
    async def main() -> None:
        async with client(ledger) as handle:
            epochs: set[int] = set()

            async def follow() -> None:
                async for state in handle.states(Ledger):
                    epochs.add(state.id.epoch.number)
                    if 2 in state.value.open:
                        return

            following = asyncio.ensure_future(follow())
            await handle.send(Deposit(1, Work()))
            await until(lambda: epochs == {1})
            ledger.kill()
            await asyncio.to_thread(ledger.start)
            await handle.send(Deposit(2, Work()))
            await asyncio.wait_for(following, 20)
            assert max(epochs) == 2

    asyncio.run(main())


def test_sections_that_are_read_at_once_are_kept_apart(programs: Path, start_reducer: StartReducer) -> None:
    reducer = start_reducer(programs / "loop-reducer", "conform")

    async def main() -> None:
        for _ in range(20):
            async with Client("conform", reducer.address) as handle:
                asked = [asyncio.ensure_future(handle.state(section=section)) for section in ("nothing", "", "done")]
                refused, *found = await asyncio.gather(*asked, return_exceptions=True)
                assert isinstance(refused, NotAdmitted)
                assert [sorted(one.value)[:1] for one in found if isinstance(one, State)] == [["done"], []]

    asyncio.run(main())


@dataclass(frozen=True)
class Kit:
    """The part of the state of `conform` that has a tracked dictionary."""

    entries: Annotated[dict[str, int], Tracked]
    filler: bytes


def test_deltas_give_the_states_that_whole_updates_give_and_a_lost_one_is_repaired(
    programs: Path, start_reducer: StartReducer, caplog: pytest.LogCaptureFixture
) -> None:
    reducer = start_reducer(programs / "loop-reducer", "conform")
    heard: list[type] = []
    lost: list[wire.Message] = []

    async def main() -> None:
        async with Client("conform", reducer.address) as handle, Client("conform", reducer.address) as other:
            await handle.send({"fill": {"bytes": 100_000}})
            following = handle.states(Kit, deltas=True)
            last = await anext(following)
            [stream] = handle._streams.values()
            hear = stream.observer.hear

            def lossy(header: wire.Header, message: wire.Message, topic: bytes, now: float) -> None:
                heard.append(type(message))
                # CBOR of the key "6".
                if isinstance(message, wire.Delta) and b"\x616" in message.delta and not lost:
                    lost.append(message)
                else:
                    hear(header, message, topic, now)

            stream.observer.hear = lossy  # type: ignore[method-assign]
            expected: dict[str, int] = {}
            for number in range(12):
                if number % 4 == 3:
                    expected.pop(str(number - 2))
                    placed = await handle.send({"remove": {"key": str(number - 2)}})
                else:
                    expected |= {str(number): number, "0": number}
                    await handle.send({"put": {"key": str(number), "value": number}})
                    if number == 6:
                        await until(lambda: bool(lost))
                    placed = await handle.send({"put": {"key": "0", "value": number}})
                while last.seq < placed.seq:
                    last = await anext(following)
                assert list(last.value.entries.items()) == list(expected.items())
                assert last == await other.state(Kit, at_least=placed)

            await until(lambda: wire.StateHash in heard)

    asyncio.run(main())
    assert len(lost) == 1
    assert heard.count(wire.Delta) > 6
    # The state was fetched once, after the loss.
    assert wire.StatePart in heard
    assert not caplog.records


def test_deltas_need_the_type_of_the_state(ledger: Reducer) -> None:
    async def main() -> None:
        async with client(ledger) as handle:
            with pytest.raises(Misfit, match="needs the type of the state"):
                await anext(handle.states(deltas=True))

    asyncio.run(main())


def test_a_section_that_is_not_there_is_named(ledger: Reducer) -> None:
    async def main() -> None:
        async with client(ledger) as handle:
            with pytest.raises(NotAdmitted, match="no section 'queue'; it has none"):
                await handle.state(section="queue")

    asyncio.run(main())


def test_an_argument_of_a_reader_that_cannot_be_used_is_named(ledger: Reducer) -> None:
    number: Any = 5

    async def main() -> None:
        async with client(ledger) as handle:
            with pytest.raises(Configuration, match=r"at_least is 5; give the StateID that send\(\) returned, or None"):
                await handle.state(at_least=number)
            with pytest.raises(Configuration, match="at_most is -1; give a number of states a second"):
                await anext(handle.states(at_most=-1))
            for section in (None, b"done", 5, "\ud800"):
                wrong: Any = section
                for use in (handle.state(section=wrong), handle.current_state(section=wrong), anext(handle.states(section=wrong))):
                    with pytest.raises(Configuration, match="section is .*; give the name of a section"):
                        await use
            placed = await handle.send(Deposit(1, Work()))
            parts: list[dict[str, Any]] = [{"history": None}, {"epoch": (1, 2)}, {"epoch": wire.Epoch(-1, 2)}, {"seq": "1"}]
            for part in parts:
                with pytest.raises(Configuration, match=r"at_least is StateID"):
                    await handle.state(at_least=placed._replace(**part))
            for reading in (handle.ask(Deposit(2, Work()), [int]), handle.state([int]), handle.current_state([int])):
                with pytest.raises(Misfit, match=r"\[<class 'int'>\] cannot be read"):
                    await reading
            for following in (handle.states([int]), handle.transitions([int])):
                with pytest.raises(Misfit, match=r"\[<class 'int'>\] cannot be read"):
                    await anext(following)
            assert (await handle.current_state()).seq == placed.seq

    asyncio.run(main())
    for more in (
        {"outbox": 5},
        {"outbox": b"x"},
        {"outbox": "a\0b"},
        {"outbox": ""},
        {"key": 5},
        {"key": "a\0b"},
        {"reducer_key": b"x"},
    ):
        arguments: dict[str, Any] = more
        with pytest.raises(Configuration, match=f"{next(iter(more))} is .*; give the path of"):
            Client("ledger", **arguments)


def test_a_state_of_another_type_is_an_error_with_its_place(ledger: Reducer) -> None:
    async def main() -> None:
        async with client(ledger) as handle:
            with pytest.raises(Misfit, match="expected a map, for Receipt|Receipt needs"):
                await handle.state(Receipt)

    asyncio.run(main())


def test_a_client_without_a_reducer_says_why_and_ends(tmp_path: Path) -> None:
    async def main() -> None:
        handle = Client("ledger", f"ipc://{tmp_path}/none", connect_timeout=0.2)
        async with handle:
            with pytest.raises(NoReducer, match="nothing listens there; is the address right"):
                await handle.send(Deposit(1, Work()))

    asyncio.run(main())


def test_posts_that_no_reducer_has_taken_are_said(tmp_path: Path) -> None:
    async def main() -> None:
        handle = Client("ledger", f"ipc://{tmp_path}/none", connect_timeout=0.2)
        with pytest.raises(Ended, match="1 events were not settled: waiting for a reducer .*: they may be lost"):
            async with handle:
                await handle.post(Deposit(1, Work()))
                await asyncio.wait([handle.over])

    asyncio.run(main())


def test_the_error_of_the_block_surfaces_and_what_is_not_settled_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        async with Client("ledger", f"ipc://{tmp_path}/none", stop_limit=0.1) as handle:
            await handle.post(Deposit(1, Work()))
            raise ValueError("of the block")

    with pytest.raises(ValueError, match="of the block"):
        asyncio.run(main())
    assert "client python: 1 events were not settled within 0.1 s: they may be lost" in caplog.messages


def test_a_client_whose_open_has_failed_can_be_closed(tmp_path: Path) -> None:
    async def main() -> None:
        handle = Client("ledger", f"ipc://{tmp_path}/none", outbox=tmp_path)
        with pytest.raises(Configuration, match="is no file"):
            await handle.open()
        await handle.aclose()
        with pytest.raises(Configuration, match="is not open"):
            await handle.post(1)

    asyncio.run(main())


def test_an_address_that_cannot_be_dialled_leaves_nothing_open(tmp_path: Path) -> None:
    async def main() -> None:
        for _ in range(2):
            with pytest.raises(Configuration, match="cannot be dialled"):
                await Client("ledger", "tcp://127.0.0.1:1,ipc:///" + "x" * 200, outbox=tmp_path / "outbox").open()

    asyncio.run(main())


def test_a_time_that_is_none_is_no_frame() -> None:
    note = wire.Note(1, 2**62, 0, b"", b"")
    with pytest.raises(wire.Malformed):
        Client("ledger").hear(b"", wire.Header(1, wire.NO_EPOCH, 0), wire.Transitions([note]))


def test_the_client_of_another_loop_is_not_let_in(ledger: Reducer) -> None:
    async def main() -> None:
        async with Client("orders", ledger.address) as handle:
            with pytest.raises(NotAdmitted, match="the loop differs: the reducer has 'ledger', and this peer has 'orders'"):
                await handle.send(Deposit(1, Work()))

    asyncio.run(main())


def test_a_wrong_address_is_an_error_at_once() -> None:
    for text in ("localhost:7710", "tcp://host", "tcp://::1:7710", "tcp://h:99999", "", ",".join(["tcp://h:1"] * 6)):
        with pytest.raises(Configuration):
            Client("ledger", text or ",")


def test_a_new_history_is_followed_and_what_is_lost_in_it_is_said(programs: Path, start_reducer: StartReducer) -> None:
    reducer = start_reducer(programs / "loop-reducer", "ledger", "/tmp", "--journal", "memory")

    async def main() -> None:
        async with clerk().running(options(reducer)), client(reducer) as handle:
            await handle.send(Deposit(1, Work()))
            lost = await handle.send(Deposit(2, Work()))
            await all_booked(handle, 2)
            reducer.kill()
            await asyncio.to_thread(reducer.start)
            await until(lambda: handle.machine.is_joined and handle.machine.history != lost.history)
            now = await handle.send(Deposit(1, Work()))
            assert (now.history, now.seq) != (lost.history, lost.seq)
            await all_booked(handle, 1)
            with pytest.raises(Ended, match=f"the state of seq {lost.seq} is lost: the loop has begun another history"):
                await handle.state(Ledger, at_least=lost)

    asyncio.run(main())


def test_a_client_that_was_closed_has_ended_for_everything(ledger: Reducer) -> None:
    async def main() -> None:
        async with client(ledger) as handle:
            await handle.send(Deposit(1, Work()))
        with pytest.raises(Ended):
            await handle.state()
        with pytest.raises(Ended):
            await anext(handle.states())
        with pytest.raises(Ended):
            await anext(handle.transitions())

    asyncio.run(main())


def test_posted_events_of_a_client_that_is_not_admitted_are_lost_for_that_reason(ledger: Reducer) -> None:
    async def main() -> None:
        with pytest.raises(Ended, match="1 events were not settled: the loop differs"):
            async with Client("other", ledger.address) as handle:
                await handle.post(Deposit(1, Work()))

    asyncio.run(main())


def test_the_event_loop_goes_on_while_many_events_are_posted(ledger: Reducer, tmp_path: Path) -> None:
    async def main() -> None:
        turns = 0

        async def others() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        async with client(ledger, outbox=tmp_path / "outbox") as handle:
            await handle.send(Deposit(1, Work()))
            task = asyncio.create_task(others())
            before = turns
            for number in range(2, 500):
                await handle.post(Deposit(number, Work()))
            seen = turns - before
            task.cancel()
        assert seen > 5

    asyncio.run(main())


# The outbox file.


def test_events_of_a_killed_process_are_applied_once_by_the_next(ledger: Reducer, tmp_path: Path) -> None:
    path = tmp_path / "outbox"
    program = Path(__file__).with_name("outbox_sender.py")
    ledger.kill()
    sender = subprocess.Popen([sys.executable, str(program), ledger.address, str(path)], stdout=subprocess.PIPE)
    assert sender.stdout is not None
    assert sender.stdout.readline() == b"accepted\n"
    sender.send_signal(signal.SIGKILL)
    sender.wait()
    ledger.start()

    async def main() -> None:
        async with client(ledger, outbox=path) as handle:
            outcomes = await asyncio.wait_for(handle.recovered(), 20)
            assert [one.event["deposit"]["number"] for one in outcomes] == [1, 2, 3]
            assert [one.seq for one in outcomes] == [1, 2, 3]
        async with client(ledger, outbox=path) as handle:
            assert await handle.recovered() == []
            assert (await handle.send(Deposit(4, Work()))).seq == 4
            assert (await handle.state(Ledger)).value.is_sound

    asyncio.run(main())


def test_a_sender_that_is_killed_again_and_again_sends_each_event_once(ledger: Reducer, tmp_path: Path) -> None:
    path = tmp_path / "outbox"
    program = Path(__file__).with_name("outbox_sender.py")
    accepted = 0
    for first in (1, 101, 201):
        words = [sys.executable, str(program), ledger.address, str(path), str(first), "100"]
        sender = subprocess.Popen(words, stdout=subprocess.PIPE)
        assert sender.stdout is not None
        assert sender.stdout.readline() == b"accepted\n"
        sender.kill()
        sender.wait()
        accepted += 100

    async def main() -> None:
        async with clerk().running(options(ledger, capacity=64)), client(ledger, outbox=path) as handle:
            await asyncio.wait_for(handle.recovered(), 20)
            assert (await all_booked(handle, accepted)).is_sound

    asyncio.run(main())


def test_a_damaged_outbox_says_so(tmp_path: Path) -> None:
    path = tmp_path / "outbox"
    address = f"ipc://{tmp_path}/none"

    async def post() -> None:
        handle = Client("ledger", address, outbox=path, stop_limit=0)
        await handle.open()
        for number in (1, 2, 3):
            await handle.post(Deposit(number, Work()))
        with pytest.raises(Ended, match="3 events were not settled"):
            await handle.aclose()

    def refused() -> str:
        try:
            OutboxFile(path, "ledger").close()
        except Configuration as error:
            return str(error)
        return ""

    asyncio.run(post())
    whole = path.read_bytes()
    for statement, why in (
        ("DELETE FROM stream", "its tables cannot be read"),
        ("UPDATE stream SET history = NULL", "its tables cannot be read"),
        ("UPDATE stream SET peer = x'00'", "its stream cannot be read"),
        ("UPDATE stream SET session = -1", "its stream cannot be read"),
        ("DELETE FROM entries WHERE number = 2", "there is no event 2"),
        ("UPDATE entries SET data = 'text' WHERE number = 3", "the event 3 cannot be read"),
        ("UPDATE entries SET data = x'01' WHERE number = 1", "the event 1 cannot be read"),
        ("UPDATE entries SET data = x'020200000000' WHERE number = 1", "the event 1 cannot be read"),
        ("UPDATE entries SET data = x'01020200000000' WHERE number = 1", "the event 1 cannot be read"),
        ("UPDATE entries SET data = x'010201000000ff' WHERE number = 1", "the event 1 cannot be read"),
    ):
        path.write_bytes(whole)
        with contextlib.closing(sqlite3.connect(path)) as database, database:
            database.execute(statement)
        assert f"the outbox {path} is damaged: {why}; move it away" in refused()
    chance = random.Random(1)
    marks = [at for at, byte in enumerate(whole) if byte]
    for _ in range(200):
        damaged = bytearray(whole)
        damaged[chance.choice(marks)] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged[: chance.choice([len(whole), chance.randrange(1, len(whole))])])
        refused()


def test_one_process_at_a_time_has_the_outbox(ledger: Reducer, tmp_path: Path) -> None:
    async def main() -> None:
        async with client(ledger, outbox=tmp_path / "outbox"):
            link = tmp_path / "link"
            link.hardlink_to(tmp_path / "outbox")
            for path in (tmp_path / "outbox", link):
                with pytest.raises(Configuration, match="in use by this process already"):
                    await client(ledger, outbox=path).open()
            # The refused ones have not taken the lock away.
            code = f"from loop_worker.outbox_file import OutboxFile; OutboxFile({str(link)!r}, 'ledger')"
            words = [sys.executable, "-c", code]
            other = await asyncio.to_thread(subprocess.run, words, capture_output=True, text=True, check=False)
            assert f"the outbox {link} is in use by another process" in other.stderr
        async with Client("orders", ledger.address, outbox=tmp_path / "other"):
            pass
        with pytest.raises(Configuration, match="is of the loop 'orders', not of 'ledger'"):
            await client(ledger, outbox=tmp_path / "other").open()

    asyncio.run(main())


def test_an_event_for_which_the_disk_has_no_space_is_not_counted(tmp_path: Path) -> None:
    async def main() -> None:
        accepted = 0
        handle = Client("ledger", f"ipc://{tmp_path}/none", outbox=tmp_path / "outbox")
        await handle.open()
        assert handle._file is not None
        handle._file._database.execute("PRAGMA max_page_count = 8")
        with pytest.raises(Configuration, match="cannot be written: database or disk is full"):
            while True:
                await handle.post("x" * 1000)
                accepted += 1
        with pytest.raises(Ended, match=f"^{accepted} events were not settled: .* is full: they stay in the outbox"):
            await handle.aclose()
        file = OutboxFile(tmp_path / "outbox", "ledger")
        assert len(file.stream.entries) == accepted > 0
        file.close()

    asyncio.run(main())


def test_a_client_that_was_not_opened_says_so(tmp_path: Path) -> None:
    async def main() -> None:
        handle = Client("ledger", f"ipc://{tmp_path}/none")
        for use in (handle.send(1), handle.post(1), handle.ask(1), handle.state(), handle.current_state(), handle.ended()):
            with pytest.raises(Configuration, match="is not open: use it in `async with`"):
                await use
        for values in (handle.states(), handle.transitions()):
            with pytest.raises(Configuration, match="is not open"):
                await anext(values)
        with pytest.raises(Configuration, match="is not open"):
            await handle.recovered()
        await handle.aclose()

    asyncio.run(main())


def test_what_is_not_settled_at_the_end_is_said(ledger: Reducer) -> None:
    async def main() -> None:
        handle = client(ledger, stop_limit=0.2)
        with pytest.raises(Ended, match="1 events were not settled within 0.2 s: they may be lost"):
            async with handle:
                await handle.send(Deposit(1, Work()))
                ledger.freeze()
                await handle.post(Deposit(2, Work()))
        ledger.thaw()

    asyncio.run(main())


# The loop's end.


def test_the_end_comes_after_the_last_state(programs: Path, start_reducer: StartReducer, tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "index.md").write_text("# One\n\n[two](two.md)\n")
    (pages / "two.md").write_text("# Two\n")
    with subprocess.Popen(
        [programs / "loopctl", "serve", pages, "--bind", "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as site:
        assert site.stdout is not None
        url = next(word for word in site.stdout.readline().split() if word.startswith("http"))
        reducer = start_reducer(programs / "loop-reducer", "linkcheck", url)
        worker = subprocess.Popen([programs / "loop-effect", "linkcheck", "--reducer", reducer.address])

        async def main() -> None:
            async with Client("linkcheck", reducer.address) as handle:
                last = None
                async for state in handle.states():
                    last = state.seq
                end = await handle.ended()
                assert end.seq == last
                assert "nothing broken" in end.text

        try:
            asyncio.run(asyncio.wait_for(main(), 30))
        finally:
            worker.wait(10)
            site.terminate()
