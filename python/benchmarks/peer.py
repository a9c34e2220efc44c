"""What one worker of Celery does a second, and its CPU time for each task: see scripts/bench-python.

Each task takes a number and returns it, as each effect of fan.py does. A task is acknowledged after it has run, and its result is
stored, so that a killed worker loses none, as with a loop. All tasks wait in the broker before the worker begins. The worker runs
them in its own process.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from celery import Celery

CAPACITY, COUNT = int(os.environ.get("CAPACITY", "256")), int(os.environ.get("TASKS", "20000"))

app = Celery("fan", broker=os.environ.get("BROKER"), backend=os.environ.get("BROKER"))
app.conf.update(task_acks_late=True, worker_prefetch_multiplier=CAPACITY, worker_concurrency=1)
began: list[float] = []


def used() -> list[float]:
    """The time, and the CPU time of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return [time.monotonic(), usage.ru_utime + usage.ru_stime]


@app.task(name="fan")  # type: ignore[untyped-decorator]
def fan(number: int) -> int:
    if not began:
        began.extend(used())
    if number == COUNT - 1:
        print("took", *(after - before for after, before in zip(used(), began, strict=True)), file=sys.__stdout__, flush=True)
    return number


def measure() -> tuple[float, float]:
    """Tasks a second, and microseconds of CPU for each."""
    with tempfile.TemporaryDirectory() as folder:
        socket = f"{folder}/broker"
        synced = ["--appendonly", "yes", "--appendfsync", "always"] if os.environ.get("JOURNAL") == "file" else []
        words = ["--port", "0", "--unixsocket", socket, "--save", "", "--dir", folder, *synced]
        with subprocess.Popen(["redis-server", *words], stdout=subprocess.DEVNULL) as broker:
            try:
                while not os.path.exists(socket):
                    time.sleep(0.01)
                environment = os.environ | {"BROKER": f"redis+socket://{socket}"}
                subprocess.run([sys.executable, __file__], env=environment, check=True)
                words = ["-m", "celery", "-A", "peer", "worker", "--pool", "solo", "--loglevel", "ERROR"]
                folder_of_this = Path(__file__).parent
                with subprocess.Popen(
                    [sys.executable, *words], env=environment, cwd=folder_of_this, stdout=subprocess.PIPE, text=True
                ) as worker:
                    assert worker.stdout is not None
                    seconds, cpu = next(map(float, line.split()[1:]) for line in worker.stdout if line.startswith("took "))
                    worker.kill()
            finally:
                broker.terminate()
    return COUNT / seconds, cpu / COUNT * 1e6


if __name__ == "__main__":
    for number in range(COUNT):
        fan.delay(number)
