"""An observer of the loop `conform` as a program: prints each state that it is shown (docs/conformance.md).

LOOP_SECTION names a section. With LOOP_DELTAS it follows deltas.
"""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import dataclass
from typing import Annotated, Any

from loop_worker import Client, Tracked, encode
from loop_worker.values import loads


@dataclass
class State:
    orders: dict[int, Any]
    others: dict[int, Any]
    done: dict[int, str]
    said: dict[int, int]
    entries: Annotated[dict[str, int], Tracked]
    filler: bytes
    result: str | None = None


async def follow() -> None:
    async with Client("conform", os.environ["LOOP_REDUCER"]) as client:
        section, deltas = os.environ.get("LOOP_SECTION", ""), "LOOP_DELTAS" in os.environ
        async for state in client.states(State if deltas else Any, section=section, deltas=deltas):
            print(json.dumps({"seq": state.seq, "state": loads(encode(state.value))}, default=str), flush=True)


if __name__ == "__main__":
    asyncio.run(follow())
