"""DBOS on PostgreSQL: durable effects that do nothing, in each of the ways that DBOS has for them.

    dbos_peer.py URL WAY WORKERS WINDOW COUNT

URL is that of an empty database, with the folder of its socket, percent-encoded, as the host. WORKERS is how many processes run
effects, WINDOW how many are asked for and have no result yet, COUNT how many there are in all. An effect is, by WAY:

    queue      a workflow of a queue, which this process fills and the workers empty
    workflows  a workflow that a worker starts itself
    steps      a step of a workflow, of which each worker has some at the same time

Everything is as DBOS has it, but for the queue, which is asked a hundred times a second in place of once. Functions that are async
were slower.
"""

import ctypes
import itertools
import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from urllib.parse import unquote, urlsplit

from dbos import DBOS, DBOSClient

QUEUE = "effects"
# How many effects a worker runs at the same time: with more of them it was slower.
AT_ONCE_MAX = {"queue": 32, "workflows": 8, "steps": 8}
ENQUEUING_THREADS = 16


@DBOS.workflow()
def effect(number):
    return number


@DBOS.step()
def step(number):
    return number


@DBOS.workflow()
def steps(numbers):
    return [step(number) for number in numbers]


def address(url):
    """The same database as SQLAlchemy wants it."""
    parts = urlsplit(url)
    folder = unquote(parts.netloc.rpartition("@")[2])
    return f"postgresql+psycopg://{parts.username}@/{parts.path[1:]}?host={folder}"


def launch(url, name, queues):
    DBOS(config={
        "name": "peer", "system_database_url": address(url), "executor_id": name, "application_version": "1",
        "log_level": "ERROR",
    })
    DBOS.listen_queues(queues)
    DBOS.launch()


def work(pipe, url, way, number, at_once, numbers):
    # PR_SET_PDEATHSIG: the kernel ends it when the driver ends, however that comes.
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    launch(url, f"worker-{number}", [QUEUE] if way == "queue" else [])
    pipe.send("ready")
    pipe.recv()
    if way == "workflows":
        with ThreadPoolExecutor(at_once) as threads:
            pipe.send(list(threads.map(effect, numbers)))
    elif way == "steps":
        with ThreadPoolExecutor(at_once) as threads:
            results = threads.map(steps, [numbers[first::at_once] for first in range(at_once)])
            pipe.send(list(itertools.chain.from_iterable(results)))
    pipe.recv()


def enqueue(url, window, count):
    """Fills the queue, each time with as many effects as the window has, and gives their results."""
    client = DBOSClient(system_database_url=address(url), system_database_pool_size=ENQUEUING_THREADS)
    options = {"queue_name": QUEUE, "workflow_name": effect.__qualname__, "app_version": "1"}
    results = []
    with ThreadPoolExecutor(ENQUEUING_THREADS) as threads:
        for first in range(0, count, window):
            numbers = range(first, min(count, first + window))
            handles = list(threads.map(lambda number: client.enqueue(options, number), numbers))
            results += [handle.get_result(polling_interval_sec=0.01) for handle in handles]
    return results


def drive(url, way, workers, window, count):
    launch(url, "driver", [])
    at_once = max(1, min(window // workers, AT_ONCE_MAX[way]))
    if way == "queue":
        DBOS.register_queue(QUEUE, worker_concurrency=at_once, polling_interval_sec=0.01)
    context, pipes = get_context("spawn"), []
    for number in range(workers):
        pipe, theirs = context.Pipe()
        words = (theirs, url, way, number, at_once, list(range(number, count, workers)))
        context.Process(target=work, args=words, daemon=True).start()
        pipes.append(pipe)
    for pipe in pipes:
        pipe.recv()
    began = time.monotonic()
    for pipe in pipes:
        pipe.send("go")
    results = enqueue(url, window, count) if way == "queue" else [number for pipe in pipes for number in pipe.recv()]
    seconds = time.monotonic() - began
    if sorted(results) != list(range(count)):
        sys.exit("driver: the results are not those that were asked for, each once")
    # In a window of one, each effect has taken its part of the time.
    print(f"seconds {seconds:.6f}\np50 {seconds / count * 1e6:.1f}\nchecked {count}", flush=True)
    # Threads of DBOS would keep the process for some seconds.
    os._exit(0)


if __name__ == "__main__":
    if len(sys.argv) != 6 or sys.argv[2] not in AT_ONCE_MAX:
        sys.exit("dbos_peer.py URL queue|workflows|steps WORKERS WINDOW COUNT")
    drive(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
