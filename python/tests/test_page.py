"""The code of docs/python.md runs as the page says."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from conftest import ROOT

from loop_worker import Case, Client, Options, Tracked, Worker
from loop_worker.pytest_plugin import StartReducer

PAGE = (ROOT / "docs/python.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_the_worker_in_ten_lines_books_a_deposit(programs: Path, start_reducer: StartReducer, tmp_path: Path) -> None:
    assert (ROOT / "python/examples/book.py").read_text(encoding="utf-8") == BLOCKS[0]
    reducer = start_reducer(programs / "loop-reducer", "ledger", "/tmp")
    program = tmp_path / "book.py"
    program.write_text(BLOCKS[0])
    environment = {**os.environ, "LOOP_REDUCER": reducer.address}
    with subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE, text=True, env=environment) as worker:
        (event,) = re.findall(r"loopctl send '(\{\"deposit\".*?)'", PAGE)
        sent = subprocess.run([programs / "loopctl", "send", event], capture_output=True, text=True, env=environment, check=True)
        assert sent.stdout == "1\n"
        assert worker.stdout is not None
        assert re.fullmatch(r"booking 1 as ledger/[0-9a-f]{16}/0\.1\.0\n", worker.stdout.readline())
        worker.terminate()
        assert worker.wait(10) == 0
    state = subprocess.run([programs / "loopctl", "state", "--json"], capture_output=True, text=True, env=environment, check=True)
    assert '"torn":0' in json.dumps(json.loads(state.stdout), separators=(",", ":"))


class Ending(Case, name="shipped"):
    parcel: str


@dataclass
class Orders:
    closed: Annotated[dict[str, Ending], Tracked]


def page(text: str) -> types.ModuleType:
    """The code of the block with this text, as a module."""
    module = types.ModuleType("page")
    sys.modules["page"] = module
    exec(next(block for block in BLOCKS if text in block), module.__dict__)
    return module


def test_ship_of_the_page_ships_orders_of_a_definition_in_swift(programs: Path, start_reducer: StartReducer) -> None:
    """The loop that `loopctl new` makes, before it gets its name."""
    reducer = start_reducer(programs / "newloop-reducer")
    module = page("class Shipped")
    worker = Worker("newloop")
    worker.effect("ship")(module.ship)

    async def main() -> None:
        async with worker.running(Options(reducer=reducer.address)), Client("newloop", reducer.address) as handle:
            await handle.send({"place": {"_0": module.Order("1", "Ada", 2500)}})
            await handle.send({"charged": {"number": "1"}})
            async for state in handle.states(Orders):
                if state.value.closed:
                    assert state.value.closed == {"1": Ending("parcel-1")}
                    return

    asyncio.run(main())


def test_the_tests_of_the_page_pass_as_they_are(programs: Path, tmp_path: Path) -> None:
    for name, text in {
        "book.py": 'worker.effect("book")',
        "orders.py": "class Shipped",
        "test_orders.py": "def test_an_order",
        "test_book.py": "def test_a_deposit",
    }.items():
        (tmp_path / name).write_text(next(block for block in BLOCKS if text in block), encoding="utf-8")
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert "3 passed" in done.stdout, done.stdout


def test_every_block_is_python() -> None:
    for block in BLOCKS:
        compile(block, "page", "exec", dont_inherit=True, flags=0x2000)
