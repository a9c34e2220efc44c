"""A client of the loop `conform` as a program: sends the event of its standard input (docs/conformance.md)."""

from __future__ import annotations

import asyncio
import json
import os
import sys

from loop_worker import Client, LoopError, Refused


async def send() -> int:
    try:
        async with Client("conform", os.environ["LOOP_REDUCER"], outbox=os.environ.get("LOOP_OUTBOX")) as client:
            applied = await client.send(json.load(sys.stdin))
            print("applied at", applied.seq)
            return 0
    except Refused as refusal:
        print(refusal)
        return 1
    except LoopError as error:
        print(error)
        return 2


if __name__ == "__main__":
    sys.exit(asyncio.run(send()))
