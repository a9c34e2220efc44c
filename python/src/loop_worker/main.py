"""The whole of a worker's program: options, log, signals, exit codes."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NoReturn

from .errors import LoopError
from .options import Options, Usage, parse
from .worker import RunningWorker, Worker

_LOG = logging.getLogger("loop_worker")
_NOTICE = 25
_SAME_SIGNAL = 0.5
_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "notice": _NOTICE, "warning": logging.WARNING, "error": logging.ERROR}
_NAMES = {number: name for name, number in _LEVELS.items()}


def _said(record: logging.LogRecord) -> str:
    text = record.getMessage()
    return text + "\n" + logging.Formatter().formatException(record.exc_info) if record.exc_info else text


class _Text(logging.Formatter):
    """Lines for people. Further lines of a text are indented, so that the text of an error cannot look like a line of the log."""

    def format(self, record: logging.LogRecord) -> str:
        text = _said(record).replace("\n", "\n  ")
        return "".join(character if character.isprintable() or character in "\n\t" else repr(character)[1:-1] for character in text)


class _JSON(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        # Lines of this package begin with the name of the node; those of bodies do not.
        node, _, text = _said(record).partition(": ") if record.name == _LOG.name else (record.name, "", _said(record))
        time = datetime.fromtimestamp(record.created, timezone.utc).isoformat(timespec="milliseconds")
        level = _NAMES.get(record.levelno, record.levelname.lower())
        line = {"time": time.replace("+00:00", "Z"), "level": level, "kind": "worker", "node": node, "text": text}
        return json.dumps(line)


def collect_rarely() -> None:
    """Lets the garbage collector run less often, unless the program has chosen so already.

    Each effect makes objects that live for a few turns. By default each burst of effects starts collections, which cost 2 us of
    the 36 us of CPU for each effect (scripts/bench-python).
    """
    gc.set_threshold(max(gc.get_threshold()[0], 50_000), *gc.get_threshold()[1:])


def run(worker: Worker, arguments: Sequence[str]) -> int:
    """Runs a worker until the loop's end or a signal, and returns the exit code."""
    program = Path(sys.argv[0]).name
    try:
        options = parse(arguments, program, worker.loop)
    except Usage as error:
        print(f"{program}: {error}; see {program} --help", file=sys.stderr)
        return 64
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JSON() if options.log == "json" else _Text())
    logging.addLevelName(_NOTICE, "NOTICE")
    # A module of the program may have set up the log for its own lines. Those of this package go as the options say.
    logging.basicConfig(handlers=[handler], level=_LEVELS[options.log_level])
    _LOG.handlers, _LOG.propagate = [handler], False
    _LOG.setLevel(_LEVELS[options.log_level])
    collect_rarely()
    code = asyncio.run(_run(worker, options, program))
    if worker.unended:
        # A body in a thread or in another process may go on for ever. Its effect was handed back, so nothing waits for it.
        logging.shutdown()
        sys.stdout.flush()
        _exit(code)
    return code


def _exit(code: int) -> NoReturn:
    """Ends the process at once, with the processes of its pools, which would stay."""
    for child in multiprocessing.active_children():
        child.kill()
    os._exit(code)


async def _end_bodies(running: RunningWorker, limit: float) -> None:
    """Waits for bodies that were cancelled, within a limit in seconds. Ends the process if one of them does not end."""
    if running.cancelled:
        await asyncio.wait(running.cancelled, timeout=max(limit, 0))
    for me in running.cancelled.values():
        _LOG.error(
            "%s: the body of %s %s was cancelled and goes on; the process ends without it", running.title, me.feedback, me.key
        )
    if running.cancelled:
        logging.shutdown()
        sys.stdout.flush()
        _exit(0)


class _Signals:
    """The first signal stops the worker, and a second one ends the process at once.

    What follows the first one within half a second belongs to it: `timeout` sends its signal to its child, and then to the group
    of processes that the child is in.
    """

    def __init__(self) -> None:
        self.came = asyncio.Event()
        self.code: int | None = None
        """The exit code, once it is known. A signal cannot change it."""
        self._loop = asyncio.get_running_loop()
        self._first_at: float | None = None
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            # Under nohup, SIGHUP is ignored, and stays so.
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._take)

    def _take(self, *_: object) -> None:
        now = time.monotonic()
        if self._first_at is None:
            self._first_at = now
            if self.code is None:
                self._loop.call_soon_threadsafe(self.came.set)
        elif now - self._first_at > _SAME_SIGNAL:
            _exit(130 if self.code is None else self.code)


async def _run(worker: Worker, options: Options, program: str) -> int:
    signals = _Signals()
    try:
        signals.code = await _run_until(worker, options, signals.came)
    except LoopError as error:
        _LOG.error("%s: %s", program, error)
        signals.code = 2
    return signals.code


async def _run_until(worker: Worker, options: Options, stop: asyncio.Event) -> int:
    loop = asyncio.get_running_loop()
    running = RunningWorker(worker, options)
    await running.open()
    stopping: asyncio.Future[Any] = asyncio.ensure_future(stop.wait())
    await asyncio.wait({stopping, running.over}, return_when=asyncio.FIRST_COMPLETED)
    if stop.is_set():
        limit = loop.time() + options.stop_limit
        if not await running.close(options.stop_limit):
            _LOG.error("%s: ended before the reducer has confirmed what was sent; it runs elsewhere", running.title)
        await _end_bodies(running, limit - loop.time())
        return 0
    stopping.cancel()
    running.over.result()
    end = running.loop_end
    if end is not None:
        _LOG.log(_NOTICE, "%s: the loop has ended: %s", running.title, end.text)
    return 0
