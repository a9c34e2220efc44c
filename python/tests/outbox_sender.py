"""Accepts deposits into an outbox file, says so, and waits to be killed."""

import asyncio
import sys

from conftest import Deposit, Work

from loop_worker import Client


async def main(address: str, path: str, first: int = 1, count: int = 3) -> None:
    async with Client("ledger", address, outbox=path) as handle:
        for number in range(first, first + count):
            await handle.post(Deposit(number, Work()))
        print("accepted", flush=True)
        await asyncio.sleep(60)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])))
