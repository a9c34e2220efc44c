"""A worker of the ledger whose body runs in another process, and does not end."""

import os
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from conftest import Booking

from loop_worker import Worker


def endless(booking: Booking) -> None:
    print(os.getpid(), flush=True)
    time.sleep(600)


if __name__ == "__main__":
    worker = Worker("ledger")
    worker.effect("book", pool=ProcessPoolExecutor(1, mp_context=get_context("spawn")))(endless)
    worker.main()
