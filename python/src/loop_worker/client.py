"""Clients: what sends events to a loop and follows its state."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections import deque
from collections.abc import AsyncIterator
from datetime import datetime, timezone
from types import TracebackType
from typing import Any, NamedTuple

from . import address, keys, machine, wire
from .deltas import Fold, Plain
from .errors import (
    Ended,
    LoopError,
    Misfit,
    NotAdmitted,
    Refused,
    Unanswered,
    is_number,
    is_path,
    is_text,
    is_whole,
    require,
    require_loop,
)
from .node import News, Node, refusal
from .observer import Observer, Position
from .options import Options
from .outbox_file import Recovered
from .values import Read, decoder, encode, loads

_LOG = logging.getLogger("loop_worker")
_STATUS_REPEAT = 0.3
_READERS_REPEAT = 1.0
_WAITING_MAX = 16_384
_TRANSFERS_MAX = 1024
_ANSWERED_BY = 2.0
_SECTION = 6
"""What `Refused` says of a section that is not there."""
_NO_ANSWER = {1: "the definition answers nothing to it", 2: "it cannot be encoded", 3: "it is too large"}


class StateID(NamedTuple):
    """Where an event was applied: a seq counts only within its history and epoch. `Client.state(at_least=…)` takes it."""

    history: int
    epoch: wire.Epoch
    seq: int


class State(NamedTuple):
    """A state that existed."""

    id: StateID
    value: Any

    @property
    def seq(self) -> int:
        """The number of the transition that made it."""
        return self.id.seq


class Transition(NamedTuple):
    """An applied event, for people who follow a loop. `missed` is how many seqs before it were lost on the way."""

    seq: int
    time: datetime
    session: int
    effect: str | None
    event: Any
    missed: int


class Outcome(NamedTuple):
    """What became of an event that an earlier process has left in the outbox file."""

    event: Any
    seq: int | None
    error: Refused | None


class _Moved(Ended):
    """The state that was asked for is of a history that is over."""


class End(NamedTuple):
    """The outcome of a loop."""

    exit_code: int
    text: str
    seq: int


class _Stream:
    """The states of one section, for the readers that follow it."""

    def __init__(self, observer: Observer) -> None:
        self.observer = observer
        self.is_followed = False
        self.newest: tuple[Position, bytes | Plain] | None = None
        self.news = News()

    def take(self) -> None:
        states = self.observer.take_states()
        for position, data in states:
            # Without bytes, the section is the same at a later seq.
            self.newest = position, data or (self.newest[1] if self.newest else b"")
        if states or self.observer.refused is not None:
            self.news.tell()


def _state(newest: tuple[Position, bytes | Plain], read: Read) -> State:
    position, data = newest
    return State(StateID(*position), read(data.value if isinstance(data, Plain) else loads(data)))


class Client(Node):
    """A handle on a loop that other processes run.

        async with Client("orders", "tcp://127.0.0.1:7710") as orders:
            id = await orders.send(Place(order))
            state = await orders.state(Orders, at_least=id)

    Without an address, LOOP_REDUCER counts, and LOOP_KEY and LOOP_REDUCER_KEY likewise. With `outbox`, events are on disk before
    they leave, and the next client with the same file sends what is not settled, in the same session, so that it is applied once.
    """

    def __init__(
        self,
        loop: str,
        reducer: str | None = None,
        *,
        key: str | None = None,
        reducer_key: str | None = None,
        schema: int = 0,
        name: str = "",
        outbox: str | os.PathLike[str] | None = None,
        connect_timeout: float | None = None,
        stop_limit: float = 5.0,
    ) -> None:
        given = Options.of_environment()
        require_loop(loop, schema)
        require(not key or is_path(key), "key", key, "the path of a file, or None")
        require(
            not reducer_key or is_path(reducer_key),
            "reducer_key",
            reducer_key,
            "the path of server.key, its 40 characters, or None",
        )
        require(outbox is None or is_path(outbox), "outbox", outbox, "the path of a file, or None")
        options = Options(reducer or given.reducer, name=name, stop_limit=stop_limit, connect_timeout=connect_timeout)
        super().__init__(
            machine.Configuration(loop, address.parse(options.reducer), schema, name=name or "python"),
            keys.load(key or given.key, reducer_key or given.reducer_key),
            outbox=outbox,
            connect_timeout=connect_timeout,
            kind="client",
        )
        self._stop_limit = stop_limit
        self._streams: dict[tuple[str, int, Any], _Stream] = {}
        # The section of each transfer of a state, by what names it.
        self._transfers: dict[tuple[wire.Epoch, int], str] = {}
        # The section of the newest questions that begin a transfer, and how many of them have no answer yet.
        self._asked = ""
        self._unanswered = 0
        self._asked_at = 0.0
        self._recovered: list[Outcome] = []
        self._status: list[asyncio.Future[Position]] = []
        self._status_at = 0.0
        # Those that wait to know whether this key may read.
        self._readers: list[asyncio.Future[None]] = []
        self._readers_at = 0.0
        self._transitions: list[deque[tuple[int, Transition]]] = []
        self._news = News()
        self._last_state_by = float("inf")

    async def __aenter__(self) -> Client:
        await self.open()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            await self.aclose()
        except Ended as ended:
            if error is None:
                raise
            # The error of the block goes on.
            _LOG.error("%s: %s", self.title, ended)

    async def aclose(self) -> None:
        """Waits until the outcome of everything accepted is known, for `stop_limit`, and ends the session.

        Raises `Ended` if posted events are not settled: without an outbox file they may be lost.
        """
        if not self.was_opened:
            return
        if await self.close(self._stop_limit):
            return
        error = self.over.exception()
        # A future has told its waiter, unless that one has left.
        tokens = [entry.token for entry in self.machine.outbox.unsettled()]
        count = sum(not isinstance(token, asyncio.Future) or token.cancelled() for token in tokens)
        if count:
            why = f" within {self._stop_limit:g} s" if error is None or isinstance(error, Ended) else f": {error}"
            what = "they stay in the outbox" if self._outbox_path is not None else "they may be lost"
            raise Ended(f"{count} events were not settled{why}: {what}")

    # Sending.

    async def post(self, event: object) -> None:
        """Sends an event. Returns when it is accepted: in memory, or on disk with an outbox file.

        Waits while the outbox is full. Raises `Refused`.
        """
        await self.accept(wire.WANTS_SEQ if self._file is not None else 0, b"", encode(event), None)

    async def send(self, event: object) -> StateID:
        """Sends an event, and returns the state after the transition that applied it. Raises `Refused` if it was not."""
        settled = await self._outcome(event, wire.WANTS_SEQ)
        return StateID(settled.history, settled.epoch, settled.seq)

    async def ask(self, event: object, kind: Any = Any) -> Any:
        """Sends an event, and returns the definition's answer to it, as a type. Raises `Refused`, `Unanswered` and `Misfit`."""
        read = decoder(kind)
        settled = await self._outcome(event, wire.WANTS_SEQ | wire.WANTS_ANSWER)
        seq = settled.seq
        if settled.answer is None:
            raise Unanswered(seq, "the reducer had to drop it")
        code, data = settled.answer
        if code:
            raise Unanswered(seq, _NO_ANSWER.get(code, f"the reducer's reason is {code}"))
        try:
            return read(loads(data))
        except Misfit as error:
            raise Unanswered(seq, f"it is not of the type that was asked for: {error}") from None

    async def _outcome(self, event: object, flags: int) -> machine.Settled:
        future: asyncio.Future[machine.Settled] = asyncio.get_running_loop().create_future()
        await self.accept(flags, b"", encode(event), future)
        return await future

    async def recovered(self) -> list[Outcome]:
        """Waits until everything that earlier processes have left in the outbox file is settled, and returns what became of it."""
        self.check_opened()
        while any(isinstance(entry.token, Recovered) for entry in self.machine.outbox.unsettled()):
            self.check()
            await self._news.wait()
        outcomes, self._recovered = self._recovered, []
        return outcomes

    # Reading.

    async def states(
        self, kind: Any = Any, *, section: str = "", at_most: float | None = None, deltas: bool = False
    ) -> AsyncIterator[State]:
        """States that existed, in order, the newest one after each pause of the reader. Ends when the loop does.

        `section` is the name of a part of the state, and `at_most` how many a second. With `deltas`, the reducer sends only the
        changed entries of tracked dictionaries, and everything else whole. Then `kind` has to mark them as `Tracked`, and states
        share the entries that have not changed, so that a reader must not change them.
        """
        is_rate = at_most is None or is_number(at_most, 0.001)
        require(is_rate, "at_most", at_most, "a number of states a second, from 0.001 on, or None")
        if deltas and kind is Any:
            raise Misfit("deltas=True needs the type of the state, in which tracked dictionaries are marked as Tracked")
        read = decoder(kind)
        stream = self._following(section, at_most, kind if deltas else None)
        shown: tuple[Position, bytes | Plain] | None = None
        while True:
            if stream.newest is not None and stream.newest is not shown:
                shown = stream.newest
                yield _state(shown, read)
                continue
            if self._has_ended():
                return
            self._check_refused(stream)
            await stream.news.wait()

    async def state(self, kind: Any = Any, *, at_least: StateID | None = None, section: str = "") -> State:
        """The first state that is the named one or a later one; without a name, any that is known.

        Raises `Ended` if the loop has begun another history, in which the named state is lost.
        """
        require(at_least is None or _is_id(at_least), "at_least", at_least, "the StateID that send() returned, or None")
        read = decoder(kind)
        stream = self._following(section, None)
        if at_least is not None and at_least.history == self.machine.history:
            stream.observer.wants(Position(*at_least), time.monotonic())
        while True:
            if stream.newest is not None and _is_at_least(stream.newest[0], at_least):
                return _state(stream.newest, read)
            self.check()
            self._check_refused(stream)
            if (
                at_least is not None
                and stream.newest is not None
                and at_least.history not in (stream.observer.history, self.machine.history)
            ):
                raise _Moved(f"the state of seq {at_least.seq} is lost: the loop has begun another history")
            await stream.news.wait()

    async def current_state(self, kind: Any = Any, *, section: str = "") -> State:
        """A state that is not older than the call: it has every event whose outcome anyone was told before (linearizable)."""
        decoder(kind)
        self._following(section, None)
        while True:
            self.check()
            future: asyncio.Future[Position] = self._loop.create_future()
            self._status.append(future)
            self._status_at = 0.0
            self.wake()
            position = await future
            with contextlib.suppress(_Moved):
                return await self.state(kind, at_least=StateID(*position), section=section)

    async def transitions(self, kind: Any = Any) -> AsyncIterator[Transition]:
        """Applied events from now on. Those that were lost on the way are counted, not repaired. Ends when the loop does.

        Raises `NotAdmitted` if the key may not read.
        """
        if self._has_ended():
            return
        read = decoder(kind)
        queue: deque[tuple[int, Transition]] = deque(maxlen=_WAITING_MAX)
        last: tuple[int, int] | None = None
        topic = wire.topic(self.machine.loop, wire.TRANSITIONS)
        await self._may_read()
        if self._has_ended():
            return
        if not self._transitions:
            self.follow(topic)
        self._transitions.append(queue)
        try:
            while True:
                while queue:
                    history, found = queue.popleft()
                    # What was lost on the way, and what did not fit into the queue of a slow reader.
                    missed = max(0, found.seq - last[1] - 1) if last is not None and last[0] == history else 0
                    last = history, found.seq
                    yield found._replace(event=read(loads(found.event)), missed=missed)
                if self._has_ended():
                    return
                await self._news.wait()
        finally:
            self._transitions = [one for one in self._transitions if one is not queue]
            if not self._transitions and self._is_open:
                self.unfollow(topic)

    async def _may_read(self) -> None:
        """Raises `NotAdmitted` if the key may not fetch states, and so not follow transitions.

        A subscription that is not allowed would end the client. A question that is not allowed ends only itself.
        """
        if self._keys is None or any(stream.newest is not None for stream in self._streams.values()):
            return
        future: asyncio.Future[None] = self._loop.create_future()
        self._readers.append(future)
        self._readers_at = 0.0
        self.wake()
        await future

    def _answer_readers(self, message: wire.Message) -> None:
        error = None
        if isinstance(message, wire.Refused) and message.to.verb == wire.STATE_WANTED:
            error = NotAdmitted(refusal(message)) if message.what != _SECTION else None
        elif not isinstance(message, wire.StatePart):
            return
        self._let_readers_go(error)

    def _let_readers_go(self, error: LoopError | None) -> None:
        waiting, self._readers = self._readers, []
        for future in waiting:
            if future.done():
                continue
            if error is None:
                future.set_result(None)
            else:
                future.set_exception(error)

    async def ended(self) -> End:
        """Waits for the loop's end."""
        self.check_opened()
        await asyncio.shield(self.over)
        if self.loop_end is None:
            raise Ended("the client is closed")
        return End(self.loop_end.exit_code, self.loop_end.text, self.loop_end.seq)

    def _has_ended(self) -> bool:
        """Whether the loop has. Raises what else has ended this client, and `Configuration` if it was not opened."""
        if self.loop_end is None:
            self.check()
        return not self._is_open

    def _check_refused(self, stream: _Stream) -> None:
        refused = stream.observer.refused
        if refused is not None:
            known = f"; it has {refused.reducers or 'none'}" if refused.what == _SECTION else ""
            raise NotAdmitted(refusal(refused) if not known else f"the loop has no section {stream.observer.section!r}{known}")

    def _following(self, section: str, at_most: float | None, folded: Any = None) -> _Stream:
        """A stream of states, or of deltas to states of a type. It goes on for later readers, as long as the client is open."""
        require(is_text(section), "section", section, 'the name of a section, or "" for the whole state')
        self.check()
        interval = round(1000 / at_most) if at_most else 0
        stream = self._streams.get((section, interval, folded))
        if stream is None:
            fold = Fold(folded) if folded is not None else None
            stream = self._streams[section, interval, folded] = _Stream(Observer(self.machine.loop, section, interval, fold))
            self.machine.awaits_last_state = True
            self._follow_if_allowed(stream)
            self.wake()
        return stream

    def _follow_if_allowed(self, stream: _Stream) -> None:
        """Subscribes to a stream, or ends that.

        With keys, its first state shows that it is for this client: a refused question ends the stream, a refused subscription all.
        """
        is_allowed = stream.observer.refused is None and (self._keys is None or stream.newest is not None)
        if is_allowed != stream.is_followed:
            stream.is_followed = is_allowed
            (self.follow if is_allowed else self.unfollow)(stream.observer.topic)

    # What the node hears.

    def topics(self) -> list[bytes]:
        topics = [stream.observer.topic for stream in self._streams.values() if stream.is_followed]
        return [*topics, wire.topic(self.machine.loop, wire.TRANSITIONS)] if self._transitions else topics

    def hear(self, topic: bytes, header: wire.Header, message: wire.Message) -> None:
        now = time.monotonic()
        if isinstance(message, wire.Status):
            self._told_status(header, message)
        elif isinstance(message, wire.Transitions):
            self._note(header, message)
        section = self._section_of(header, message)
        self._answer_readers(message)
        for stream in self._streams.values():
            if isinstance(message, wire.Introduction):
                stream.observer.introduced(header.history)
            elif section is None or section == stream.observer.section:
                stream.observer.hear(header, message, topic, now)
                stream.take()
                self._follow_if_allowed(stream)

    def _section_of(self, header: wire.Header, message: wire.Message) -> str | None:
        """The section that an answer is of, or nothing for what concerns all streams. It does not name its section.

        So only one section at a time is asked for, until all answers are here.
        """
        is_refusal = isinstance(message, wire.Refused | wire.Busy) and message.to.verb == wire.STATE_WANTED
        if is_refusal or (isinstance(message, wire.StatePart) and message.part == 0):
            self._unanswered = max(self._unanswered - 1, 0)
        if isinstance(message, wire.StatePart):
            if len(self._transfers) > _TRANSFERS_MAX:
                del self._transfers[next(iter(self._transfers))]
            return self._transfers.setdefault((header.epoch, message.transfer), self._asked)
        return self._asked if is_refusal and isinstance(message, wire.Refused) and message.what == _SECTION else None

    def _may_ask(self, section: str, now: float) -> bool:
        return section == self._asked or not self._unanswered or now > self._asked_at + _ANSWERED_BY

    def _note_asked(self, section: str, now: float) -> None:
        self._unanswered = self._unanswered + 1 if section == self._asked else 1
        self._asked, self._asked_at = section, now

    def tend(self, now: float) -> float:
        due = float("inf")
        if self.machine.introduced:
            for stream in self._streams.values():
                due = min(due, stream.observer.advance(now, self._may_ask(stream.observer.section, now)))
                for question in stream.observer.take_questions():
                    self.tell(question)
                    if stream.observer.is_beginning:
                        self._note_asked(stream.observer.section, now)
                if stream.observer.divergence is not None:
                    _LOG.warning("%s: %s; the state is fetched again", self.title, stream.observer.divergence)
                    stream.observer.divergence = None
                stream.take()
        if self._readers:
            if now >= self._readers_at and self.machine.introduced and self._may_ask("", now):
                self.tell(wire.state_wanted(self.machine.loop, 0, 0, ""))
                self._note_asked("", now)
                self._readers_at = now + _READERS_REPEAT
            due = min(due, max(self._readers_at, now + 0.02))
        if self._status:
            if now >= self._status_at and self.machine.introduced:
                self.tell(wire.status_wanted(self.machine.loop))
                self._status_at = now + _STATUS_REPEAT
            due = min(due, max(self._status_at, now + 0.02))
        if self.machine.ended is not None and self.machine.awaits_last_state:
            due = min(due, self._await_last_state(now))
        else:
            self._last_state_by = float("inf")
        return due

    def _await_last_state(self, now: float) -> float:
        """The end is told after the last state, which an observer must be able to fetch, for a second at most."""
        assert self.machine.ended is not None
        seq = self.machine.ended.seq
        self._last_state_by = min(self._last_state_by, now + 1)
        has_all = all(one.observer.section or one.observer.refused or one.observer.has(seq) for one in self._streams.values())
        if has_all or now >= self._last_state_by:
            self.machine.last_state_is_known()
        return self._last_state_by

    def _told_status(self, header: wire.Header, message: wire.Status) -> None:
        document = loads(message.document)
        if not isinstance(document, dict) or document.get("role", "leader") != "leader" or not header.history:
            return
        seq = document.get("seq")
        if type(seq) is not int:
            return
        waiting, self._status = self._status, []
        for future in waiting:
            if not future.done():
                future.set_result(Position(header.history, header.epoch, seq))

    def _note(self, header: wire.Header, message: wire.Transitions) -> None:
        for note in message.notes:
            try:
                at = datetime.fromtimestamp(note.time_ms / 1000, timezone.utc)
            except (ValueError, OverflowError, OSError):
                raise wire.Malformed(f"a time of {note.time_ms} ms") from None
            effect = wire.effect_text(note.effect) if note.effect else None
            for queue in self._transitions:
                queue.append((header.history, Transition(note.seq, at, note.session, effect, note.event, 0)))
        self._news.tell()

    def handle(self, action: machine.Action) -> None:
        if not isinstance(action, machine.Settled):
            return
        error = Refused(action.code, action.detail) if action.code else None
        if isinstance(action.token, Recovered):
            self._recovered.append(Outcome(loads(action.token.event), None if error else action.seq, error))
            self._news.tell()
        elif error is not None:
            _LOG.error("%s: an event was %s", self.title, error)

    def shut(self, error: LoopError | None) -> None:
        super().shut(error)
        self._news.tell()
        for stream in self._streams.values():
            stream.news.tell()
        for future in self._status:
            if not future.done():
                future.set_exception(self._error())
        self._let_readers_go(None)


def _is_id(value: object) -> bool:
    if not isinstance(value, StateID) or not isinstance(value.epoch, wire.Epoch):
        return False
    return all(map(is_whole, (value.history, *value.epoch, value.seq)))


def _is_at_least(position: Position, wanted: StateID | None) -> bool:
    if wanted is None:
        return True
    if position.history != wanted.history:
        return False
    return position.seq >= wanted.seq and position.epoch.number >= wanted.epoch.number
