"""The code of docs/python.md runs as the page says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import types
from pathlib import Path

from conftest import ROOT

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


def test_the_tests_of_the_page_pass() -> None:
    module = types.ModuleType("page")
    sys.modules["page"] = module
    typed, tests = (next(block for block in BLOCKS if text in block) for text in ("class Shipped", "def test_an_order"))
    exec(typed, module.__dict__)
    exec(tests, module.__dict__)
    names = [name for name in vars(module) if name.startswith("test_")]
    assert len(names) == 2
    for name in names:
        vars(module)[name]()


def test_every_block_is_python() -> None:
    for block in BLOCKS:
        compile(block, "page", "exec", dont_inherit=True, flags=0x2000)
