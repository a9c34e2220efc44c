"""A worker of the ledger that writes the page of each deposit, as Examples/LoopExamples/Ledger/LedgerClerk.swift does.

`make chaos` runs it among workers in Swift: the loop and the pages show every event that is lost, doubled, stale or torn.
"""

import asyncio
import os
import secrets
from dataclasses import dataclass

from loop_worker import Case, Effect, Refused, Retry, Worker


@dataclass
class Work:
    milliseconds: int
    failures: int


@dataclass
class Booking:
    deposit: int
    folder: str
    work: Work


class Begun(Case):
    deposit: int
    slip: int


class Booked(Case):
    deposit: int
    slip: int


worker = Worker("ledger")


@worker.effect("book")
async def book(booking: Booking, me: Effect) -> None:
    slip = secrets.randbits(64)

    def note(what: str) -> None:
        # A whole line by one write, so that it is there even if the process is killed.
        page = os.open(f"{booking.folder}/{booking.deposit}", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            os.write(page, f"{me.key} {slip:x} {what}\n".encode())
        finally:
            os.close(page)

    note(f"begun {me.failures}")
    try:
        await me.send(Begun(booking.deposit, slip))
        await asyncio.sleep(booking.work.milliseconds / 1000)
        if me.failures < booking.work.failures:
            raise Retry("the failure that the deposit requested")
        note("written")
        note(f"booked {await me.confirm(Booked(booking.deposit, slip))}")
    except Refused as refusal:
        note(f"refused {refusal.code}")
        raise


if __name__ == "__main__":
    worker.main()
