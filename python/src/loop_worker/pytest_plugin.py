"""The fixture `start_reducer`, for tests with a reducer of your own.

def test_orders_are_shipped(start_reducer) -> None:
    reducer = start_reducer("orders-reducer")
    asyncio.run(ship_through(Options(reducer=reducer.address)))
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .testing import Reducer

StartReducer = Callable[..., Reducer]


@pytest.fixture
def start_reducer() -> Iterator[StartReducer]:
    """Starts reducers: `start_reducer("orders-reducer", "--silence-limit", "1s")`. They are killed after the test."""
    # Paths of ipc:// have room for 107 bytes, and those of tmp_path are long.
    folder = Path(tempfile.mkdtemp(prefix="loop-"))
    reducers: list[Reducer] = []

    def start(*command: str | Path, address: str | None = None, until: str = "listening at ") -> Reducer:
        own = folder / str(len(reducers))
        own.mkdir()
        reducers.append(Reducer(command, own, address=address, until=until))
        return reducers[-1]

    try:
        yield start
    finally:
        for reducer in reducers:
            reducer.kill()
        shutil.rmtree(folder, ignore_errors=True)
