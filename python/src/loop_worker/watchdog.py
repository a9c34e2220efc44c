"""Notices that an event loop has no turn while it lasts, and where."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from collections.abc import Callable
from types import FrameType

_LOG = logging.getLogger("loop_worker")
_LOOKS = 4


class Watchdog:
    """A thread that looks at the time of an event loop's last turn, and says once for each long turn what blocks it.

    It counts its own looks, because nothing blocks a process that was stopped. Made on the event loop.
    """

    def __init__(self, turned_at: Callable[[], float], limit: Callable[[], float], say: Callable[[FrameType], str]) -> None:
        """`limit` is how long a turn may take, in seconds. `say` makes the line of the log, of the frame that runs."""
        self._turned_at, self._limit, self._say = turned_at, limit, say
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        self._is_over = threading.Event()
        threading.Thread(target=self._run, name="loop_worker: watchdog", daemon=True).start()

    def close(self) -> None:
        """Ends the thread, soon."""
        self._is_over.set()

    def _run(self) -> None:
        seen, looks = 0.0, 0
        while not self._is_over.wait(self._limit() / _LOOKS):
            turned_at = self._turned_at()
            looks = looks + 1 if turned_at == seen else 0
            seen = turned_at
            frame = sys._current_frames().get(self._thread) if looks == _LOOKS and self._loop.is_running() else None
            if frame is not None:
                line = self._say(frame)
                if self._turned_at() == seen:
                    _LOG.warning("%s", line)
