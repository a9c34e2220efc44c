"""An observer of the loop `conform` as a program: prints each state that it is shown (docs/conformance.md)."""

from __future__ import annotations

import asyncio
import json
import os

from loop_worker import Client


async def follow() -> None:
    async with Client("conform", os.environ["LOOP_REDUCER"]) as client:
        async for state in client.states():
            print(json.dumps({"seq": state.seq, "state": state.value}, default=str), flush=True)


if __name__ == "__main__":
    asyncio.run(follow())
