"""Celery with Redis as broker and for results: a task that does nothing, a worker with its processes, and a driver.

    celery_peer.py worker PROCESSES
    celery_peer.py driver WINDOW COUNT

Redis is asked at redis.sock in the current folder. A task is acknowledged when it has ended, so that a worker that dies
loses none; everything else is as Celery has it.
"""

import ctypes
import os
import signal
import sys
import time
import warnings
from collections import deque

from celery import Celery
from celery.platforms import SecurityWarning
from celery.signals import worker_process_init, worker_ready

# In this way a path of any length fits into the address of a socket.
REDIS = "/proc/self/cwd/redis.sock"

app = Celery("peer", broker=f"redis+socket://{REDIS}", backend=f"redis+socket://{REDIS}")
app.conf.task_acks_late = True
app.conf.broker_connection_retry_on_startup = True


@app.task(name="nothing")
def nothing(number):
    return number


@worker_ready.connect
def say_ready(**_):
    # What is printed here, Celery would put into its log.
    os.write(1, b"ready 1\n")


@worker_process_init.connect
def end_with_worker(**_):
    # PR_SET_PDEATHSIG: the kernel ends it when the worker ends, however that comes.
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def drive(window, count):
    began = time.monotonic()
    live = deque()
    taken = []
    numbers = set()
    asked = 0
    while len(numbers) < count:
        while asked < count and len(live) < window:
            live.append((time.monotonic(), nothing.delay(asked)))
            asked += 1
        at, task = live.popleft()
        number = task.get(timeout=120)
        taken.append(time.monotonic() - at)
        if number in numbers:
            sys.exit("driver: a result came twice")
        numbers.add(number)
    seconds = time.monotonic() - began
    if numbers != set(range(count)):
        sys.exit("driver: a result is of an effect that was not asked for")
    print(f"seconds {seconds:.6f}")
    print(f"p50 {sorted(taken)[count // 2] * 1e6:.1f}")
    print(f"checked {count}")


# Celery warns of a worker that runs as root. This one gets nothing from outside.
warnings.simplefilter("ignore", SecurityWarning)
if len(sys.argv) == 3 and sys.argv[1] == "worker":
    app.worker_main(["worker", "--concurrency", sys.argv[2], "--loglevel", "ERROR"])
elif len(sys.argv) == 4 and sys.argv[1] == "driver":
    drive(int(sys.argv[2]), int(sys.argv[3]))
else:
    sys.exit("celery_peer.py worker PROCESSES, or driver WINDOW COUNT")
