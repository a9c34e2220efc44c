"""A sender's stream on disk, so that the next process continues it (docs/decisions/0014-outbox-file.md)."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import threading
import weakref
from pathlib import Path

from . import wire
from .errors import Configuration, Misfit
from .machine import Machine
from .outbox import Entry, Stream
from .values import loads

_APPLICATION = 0x4C705077
_TABLES = """
CREATE TABLE stream (
    loop TEXT, peer BLOB, history BLOB, epoch BLOB, nonce BLOB, session INTEGER, settled INTEGER, offered INTEGER);
CREATE TABLE entries (number INTEGER PRIMARY KEY, data BLOB);
"""
_COLUMNS = [str, bytes, bytes, bytes, bytes, int, int, int]


_OPEN: weakref.WeakValueDictionary[tuple[int, int], OutboxFile] = weakref.WeakValueDictionary()
"""The files that this process has open, by device and inode."""
_OPENING = threading.Lock()


class Recovered:
    """The token of an event that an earlier process has accepted."""

    def __init__(self, event: bytes) -> None:
        self.event = event


class OutboxFile:
    """An SQLite database with one stream, locked as long as it is open. Nothing leaves that is not in it."""

    def __init__(self, path: str | os.PathLike[str], loop: str) -> None:
        self._path = Path(path)
        self._loop = loop
        try:
            with _OPENING:
                self._key = self._look()
                if self._key in _OPEN:
                    raise Configuration(f"the outbox {path} is in use by this process already")
                self._database = sqlite3.connect(path, isolation_level=None, timeout=0)
                _OPEN[self._key] = self
            try:
                self._open()
            except BaseException:
                # An open database stays locked.
                self.close()
                raise
        except (OSError, UnicodeDecodeError, sqlite3.Error) as error:
            if "locked" in str(error):
                raise Configuration(f"the outbox {path} is in use by another process") from None
            raise Configuration(f"the outbox {path} cannot be opened: {error}") from None

    def _look(self) -> tuple[int, int]:
        """What names the file, which is made if it is missing. Raises `Configuration` for one that is not this user's alone."""
        # Whatever closes a descriptor of an open database takes its lock away. This one opens a new file alone.
        with contextlib.suppress(FileExistsError):
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        status = self._path.lstat()
        if stat.S_ISLNK(status.st_mode):
            raise Configuration(f"the outbox {self._path} is a symbolic link: name the file that it leads to")
        if not stat.S_ISREG(status.st_mode):
            raise Configuration(f"the outbox {self._path} is no file")
        if status.st_uid != os.geteuid():
            raise Configuration(f"the outbox {self._path} belongs to user {status.st_uid}, not to {os.geteuid()}")
        if status.st_mode & 0o022:
            raise Configuration(f"the outbox {self._path} can be changed by other users: chmod go-w {self._path}")
        return status.st_dev, status.st_ino

    def _open(self) -> None:
        run = self._database.execute
        run("PRAGMA locking_mode = EXCLUSIVE")
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = FULL")
        run("BEGIN EXCLUSIVE")
        (application,) = run("PRAGMA application_id").fetchone()
        (tables,) = run("SELECT count(*) FROM sqlite_master").fetchone()
        if not tables:
            run(f"PRAGMA application_id = {_APPLICATION}")
            for statement in _TABLES.strip().split(";\n"):
                run(statement)
            run("INSERT INTO stream VALUES (?, ?, ?, ?, ?, 0, 0, 0)", (self._loop, os.urandom(16), *[bytes(8)] * 3))
        elif application != _APPLICATION:
            raise Configuration(f"{self._path} is no outbox of this package; loopctl and Swift programs have files of their own")
        (state,) = run("PRAGMA quick_check(1)").fetchone()
        rows = run("SELECT * FROM stream").fetchall()
        self._require(state == "ok" and [[*map(type, row)] for row in rows] == [_COLUMNS], "its tables cannot be read")
        loop, self.peer, history, epoch, nonce, session, settled, offered = rows[0]
        are_whole = [*map(len, rows[0][1:5])] == [16, 8, 8, 8] and min(session, settled, offered) >= 0
        self._require(are_whole, "its stream cannot be read")
        if loop != self._loop:
            raise Configuration(f"the outbox {self._path} is of the loop {loop!r}, not of {self._loop!r}")
        entries: list[Entry] = []
        for number, data in run("SELECT number, data FROM entries ORDER BY number"):
            self._require(number == settled + len(entries) + 1, f"there is no event {settled + len(entries) + 1}")
            try:
                entries.append(_entry(data))
            except (wire.Malformed, Misfit):
                self._require(False, f"the event {number} cannot be read")
        if not session:
            # Under its old name the reducer may have a session with a watermark.
            self.peer = os.urandom(16)
        self.stream = Stream(
            int.from_bytes(history, "little"),
            wire.Epoch(int.from_bytes(epoch, "little"), int.from_bytes(nonce, "little")),
            session,
            settled,
            offered,
            entries,
        )
        self._kept = Stream()
        self._peer = b""
        self._generation = 0
        self._last, self._settled = settled + len(entries), settled
        run("COMMIT")

    def _require(self, is_right: bool, why: str) -> None:
        if not is_right:
            raise Configuration(f"the outbox {self._path} is damaged: {why}; move it away to begin an empty one")

    def keep(self, machine: Machine) -> None:
        """Writes what has changed since the last time, and syncs it."""
        outbox, now = machine.outbox, machine.stream_now()
        has_news = outbox.last > self._last or outbox.settled > self._settled or outbox.generation != self._generation
        if not has_news and now == self._kept and machine.peer == self._peer:
            return
        run = self._database.execute
        run("BEGIN")
        if outbox.generation != self._generation:
            run("DELETE FROM entries")
            self._last = outbox.settled
        run("DELETE FROM entries WHERE number <= ?", (outbox.settled,))
        start = max(self._last, outbox.settled)
        new = outbox.unsettled()[start - outbox.settled :]
        self._database.executemany(
            "INSERT INTO entries VALUES (?, ?)", [(start + 1 + at, entry.data) for at, entry in enumerate(new)]
        )
        numbers = [number.to_bytes(8, "little") for number in (now.history, now.epoch.number, now.epoch.nonce)]
        run(
            "UPDATE stream SET peer = ?, history = ?, epoch = ?, nonce = ?, session = ?, settled = ?, offered = ?",
            (machine.peer, *numbers, now.session, now.settled, now.offered),
        )
        run("COMMIT")
        self._kept, self._peer, self._generation = now, machine.peer, outbox.generation
        self._last, self._settled = outbox.last, outbox.settled
        machine.kept = outbox.settled

    def close(self) -> None:
        """Lets another process have the file."""
        self._database.close()
        _OPEN.pop(self._key, None)


def _entry(data: object) -> Entry:
    """An entry from its bytes: a client's event. Raises `Malformed` and `Misfit`."""
    if not isinstance(data, bytes):
        raise wire.Malformed("no bytes")
    reader = wire.Reader(data)
    kind, flags = reader.u8(), reader.u8()
    if kind != wire.EVENT or flags & ~(wire.WANTS_ANSWER | wire.HAS_TRACE) != wire.WANTS_SEQ:
        raise wire.Malformed(f"an entry of kind {kind} with flags {flags}")
    reader.take(25 if flags & wire.HAS_TRACE else 0)
    event = reader.bytes()
    if reader.at != len(data):
        raise wire.Malformed("bytes after the event")
    loads(event)
    return Entry(data, b"", flags, False, Recovered(event))
