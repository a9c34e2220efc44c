"""Effects a second of one worker, and its CPU time for each, with the reducer of `loop-bench`: see scripts/bench-python."""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from loop_worker import Case, Client, Effect, Options, Worker
from loop_worker.main import collect_rarely
from loop_worker.node import Node

LOOP = "bench-fan-plain"
CAPACITY, COUNT = int(os.environ.get("CAPACITY", "256")), int(os.environ.get("COUNT", "100000"))


class Begin(Case):
    limit: int
    window: int


class Done(Case):
    _0: int


worker = Worker(LOOP)


@worker.effect("fan")
async def fan(number: int, me: Effect) -> Done:
    return Done(number)


async def work(address: str) -> None:
    """The worker's process, until the loop has ended. It is set up as `worker.main()` does it."""
    collect_rarely()
    async with worker.running(Options(reducer=address, capacity=CAPACITY, name="fan")) as running:
        await until_joined(running)
        print("joined", flush=True)
        before = resource.getrusage(resource.RUSAGE_SELF)
        await running.over
        after = resource.getrusage(resource.RUSAGE_SELF)
        print(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, flush=True)


async def until_joined(running: Node) -> None:
    while not running.machine.is_joined:
        await asyncio.sleep(0.01)


async def begin(address: str) -> float:
    """Begins the loop, and returns the seconds until its end."""
    async with Client(LOOP, address) as client:
        began = time.monotonic()
        await client.post(Begin(COUNT, CAPACITY))
        end = await client.ended()
        assert end.text == f"{COUNT} {COUNT * (COUNT - 1) // 2}", end
        return time.monotonic() - began


def measure(program: str) -> tuple[float, float]:
    """Effects a second, and microseconds of CPU for each."""
    with tempfile.TemporaryDirectory(dir=Path(program).parent) as folder:
        journal = f"journal={folder}/bench.journal" if os.environ.get("JOURNAL") == "file" else "journal=memory"
        reducer = subprocess.Popen([program, "--role", "reducer", f"loop={LOOP}", journal], stdout=subprocess.PIPE, text=True)
        assert reducer.stdout is not None
        address = next(line.split()[1] for line in reducer.stdout if line.startswith("listening "))
        child = subprocess.Popen([sys.executable, __file__, "--work", address], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        assert child.stdout.readline() == "joined\n"
        seconds = asyncio.run(begin(address))
        cpu = float(child.stdout.readline())
        child.wait()
        reducer.communicate()
        return COUNT / seconds, cpu / COUNT * 1e6


if __name__ == "__main__":
    if sys.argv[1] == "--work":
        asyncio.run(work(sys.argv[2]))
    else:
        import peer

        for _ in range(int(os.environ.get("ROUNDS", "3"))):
            (rate, cpu), (tasks, cpu_of_task), load = measure(sys.argv[1]), peer.measure(), os.getloadavg()[0]
            print(
                f"{rate:8.0f} effects/s, {cpu:5.1f} us of the worker's CPU for each; Celery {tasks:6.0f} tasks/s,"
                f" {cpu_of_task:5.0f} us; ratios {rate / tasks:.1f} and {cpu / cpu_of_task:.3f}; load {load:.1f}",
                flush=True,
            )
