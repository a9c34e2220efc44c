"""A worker of the ledger whose body does not end when it is cancelled."""

import asyncio
import contextlib

from conftest import Booking, clerk


async def stubborn(booking: Booking) -> None:
    print("begun", flush=True)
    while True:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(60)


if __name__ == "__main__":
    clerk(stubborn).main()
