"""The shell of a peer: sockets and the clock, on the event loop of asyncio. It decides nothing that the machine can decide."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
import os
import sqlite3
import threading
import time

import zmq

from . import address, machine, wire
from .errors import Configuration, Ended, LoopError, Misfit, NoReducer, NotAdmitted, Refused
from .keys import Keys
from .machine import Machine
from .outbox_file import OutboxFile

_LOG = logging.getLogger("loop_worker")
_FRAMES_IN_A_TURN = 512
_SAY_AFTER = (2.0, 10.0, 60.0)
_SAY_EVERY = 600.0
_FOR_SUBCLASSES = frozenset((machine.Start, machine.Stop, machine.NewRequest))
_TURN_EVERY = 0.5
_YIELD_AFTER = 0.02
_MESSAGE_MAX = 2 * wire.MESSAGE_BYTES_MAX

_DIFFERS = {
    1: "the loop",
    2: "the schema",
    3: "the definition",
    4: "the placement of feedbacks",
    5: "the version of the protocol",
    6: "the section",
}
_ROLE = 8
_NOT_ALLOWED = {
    7: "the reducer does not admit this key any more",
    _ROLE: "no role of this key allows it; see loopctl keygen --role",
    9: "the session belongs to another key",
}


def refusal(news: wire.Refused) -> str:
    """What a reducer's refusal says, for people."""
    if news.what == _ROLE and news.peers:
        return f"the key {news.reducers}, may not {news.peers} (loopctl keygen --role)"
    words = _NOT_ALLOWED.get(news.what)
    if words is not None:
        return words + (f" ({news.reducers})" if news.reducers else "")
    what = _DIFFERS.get(news.what, f"code {news.what}")
    return f"{what} differs: the reducer has {news.reducers!r}, and this peer has {news.peers!r}"


class News:
    """Wakes all that wait, each time that it is told."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def tell(self) -> None:
        self._event.set()
        self._event = asyncio.Event()

    async def wait(self) -> None:
        await self._event.wait()


class Node:
    """A peer with its sockets. Subclasses hear what the machine decides, by `handle`, and may listen to more topics.

    All methods are for the thread of the event loop in which `open` was called.
    """

    def __init__(
        self,
        configuration: machine.Configuration,
        keys: Keys | None,
        *,
        outbox: str | os.PathLike[str] | None = None,
        connect_timeout: float | None = None,
        kind: str,
    ) -> None:
        self.configuration = configuration
        """As it was given: its addresses may be names."""
        self._keys = keys
        self._outbox_path = outbox
        self._connect_timeout = connect_timeout
        self.title = f"{kind} {configuration.name}".rstrip()
        self.machine: Machine
        self.over: asyncio.Future[None]
        """Done when nothing more happens; with an error if that is not the loop's end, or an end that was asked for."""
        self.loop_end: wire.Ended | None = None
        self._file: OutboxFile | None = None
        self._is_open = False
        self._space = News()
        self._failure: LoopError | None = None

    # Subclasses.

    what_blocks = "something else on the event loop blocks it"
    """Why the event loop may have had no turn, for people."""

    def handle(self, action: machine.Action) -> None:
        """Performs an action that does not concern sockets."""

    def topics(self) -> list[bytes]:
        """What else is subscribed to, besides the inbox and the common topic."""
        return []

    def hear(self, topic: bytes, header: wire.Header, message: wire.Message) -> None:
        """Takes a frame of the present address that is not for the machine alone. The topic of an answer over DEALER is empty."""

    def tend(self, now: float) -> float:
        """Acts on time, and returns when it is to be called again."""
        return float("inf")

    # The beginning and the end.

    async def open(self) -> None:
        """Opens the sockets. The rest happens as the event loop runs."""
        self._loop = asyncio.get_running_loop()
        self.over = self._loop.create_future()
        # The future may have an error that no one waits for.
        self.over.add_done_callback(lambda future: future.cancelled() or future.exception())
        places = await address.look_up(self.configuration.places)
        stream = None
        peer = os.urandom(16)
        if self._outbox_path is not None:
            self._file = OutboxFile(self._outbox_path, self.configuration.loop)
            stream, peer = self._file.stream, self._file.peer
        now = time.monotonic()
        self.machine = Machine(dataclasses.replace(self.configuration, places=places), peer, now, stream)
        self._context = zmq.Context()
        self._sockets: set[zmq.Socket[bytes]] = set()
        self._push: zmq.Socket[bytes] | None = None
        # By the address of the reducer that publishes there.
        self._subscribers: dict[str, zmq.Socket[bytes]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._is_woken = self._has_sent = False
        self._lost_at = now
        self._said = 0
        self._asking: asyncio.Task[None] | None = None
        self._looking: asyncio.Task[None] | None = None
        self._has_joined = False
        self.turned_at = now
        """When the event loop had its last turn here."""
        self._is_open = True
        try:
            self._dealer = self._socket(zmq.DEALER, places[0])
            if len(places) > 1:
                for place in places:
                    self._subscribe(place, address.publisher(place))
        except zmq.ZMQError as error:
            failure = Configuration(f"an address of {', '.join(places)} cannot be dialled: {error}")
            self.shut(failure)
            raise failure from None
        self.wake()

    async def close(self, limit: float) -> bool:
        """Hands everything back and leaves, within a limit in seconds. Returns whether the reducer has confirmed everything."""
        if self._is_open:
            self.machine.stop(time.monotonic())
            self.wake()
            try:
                await asyncio.wait([self.over], timeout=limit)
            finally:
                self.shut(Ended("the connection is closed"))
        return self.machine.outbox.is_empty

    def shut(self, error: LoopError | None) -> None:
        """Closes the sockets at once."""
        if not self._is_open:
            return
        self._is_open = False
        if not self.over.done():
            if error is None:
                self.over.set_result(None)
            else:
                self.over.set_exception(error)
        for entry in self.machine.outbox.unsettled():
            if isinstance(entry.token, asyncio.Future) and not entry.token.done():
                entry.token.set_exception(self._error())
        self._space.tell()
        if self._timer is not None:
            self._timer.cancel()
        for task in (self._asking, self._looking):
            if task is not None:
                task.cancel()
        for socket in list(self._sockets):
            self._close(socket)
        if self._file is not None:
            self._file.close()
        # It waits for what has not left yet, half a second at most. The event loop does not.
        threading.Thread(target=self._context.term, name="loop_worker: last messages").start()

    def give_up(self, error: LoopError) -> None:
        """Hands everything back and ends, with an error."""
        self._failure = self._failure or error
        self.machine.stop(time.monotonic())
        self.wake()

    def check(self) -> None:
        """Raises what has ended this peer, if something has."""
        if not self._is_open:
            raise self._error()

    @property
    def was_opened(self) -> bool:
        """Whether `open` was called, and has found what it needs."""
        return hasattr(self, "machine")

    def check_opened(self) -> None:
        """Raises `Configuration` if `open` was not called."""
        if not self.was_opened:
            raise Configuration(f"the {self.title} is not open: use it in `async with`, or await its open()")

    def _error(self) -> LoopError:
        self.check_opened()
        error = self.over.exception() if self.over.done() else None
        if isinstance(error, LoopError):
            return error
        return Ended("the connection is closed" if self.loop_end is None else "the loop has ended")

    # Entries.

    async def accept(self, flags: int, held: bytes, event: bytes, token: object) -> None:
        """Takes an event, and waits while the outbox is full. Raises `Refused`, and what has ended this peer.

        A token that is a future is told the outcome, or why it is not known.
        """
        self.check()
        while not self.machine.accept(wire.EVENT, flags, held, event, token):
            await self._space.wait()
            self.check()
        try:
            self._write()
        except Configuration as error:
            # It is refused, so it is not in the outbox.
            self.machine.outbox.take_back()
            self.shut(error)
            raise
        self.wake()
        if time.monotonic() - self.turned_at > _YIELD_AFTER:
            # Many events in a row leave while they come, and everything else on the event loop goes on.
            await asyncio.sleep(0)

    def _settled(self, action: machine.Settled) -> None:
        token = action.token
        if not isinstance(token, asyncio.Future):
            self.handle(action)
        elif not token.done():
            if action.code:
                token.set_exception(Refused(action.code, action.detail))
            else:
                token.set_result(action)

    # Sockets.

    def _socket(self, kind: int, place: str) -> zmq.Socket[bytes]:
        """A socket that is connected, and whose events wake this node."""
        socket: zmq.Socket[bytes] = self._context.socket(kind)
        socket.linger = 500 if kind == zmq.DEALER else 0
        socket.sndhwm, socket.rcvhwm = 1000, 4096
        socket.maxmsgsize = _MESSAGE_MAX
        socket.reconnect_ivl, socket.reconnect_ivl_max = 50, 500
        socket.handshake_ivl = 3000
        if "[" in place:
            socket.ipv6 = True
        if self._keys is not None:
            socket.curve_publickey, socket.curve_secretkey = self._keys.public, self._keys.secret
            socket.curve_serverkey = self._keys.reducer
        try:
            socket.connect(place)
        except zmq.ZMQError:
            socket.close(0)
            raise
        self._sockets.add(socket)
        self._loop.add_reader(_descriptor(socket), self._turn)
        return socket

    def _close(self, socket: zmq.Socket[bytes] | None) -> None:
        if socket is not None:
            self._sockets.remove(socket)
            self._loop.remove_reader(_descriptor(socket))
            socket.close()

    def _subscribe(self, place: str, endpoint: str) -> None:
        socket = self._socket(zmq.SUB, endpoint)
        self._close(self._subscribers.get(place))
        self._subscribers[place] = socket
        for topic in self._all_topics():
            socket.subscribe(topic)

    def _all_topics(self) -> list[bytes]:
        own = self.machine
        return [wire.topic(own.loop, wire.INBOX, own.peer), wire.topic(own.loop, wire.COMMON), *self.topics()]

    def follow(self, topic: bytes) -> None:
        """Subscribes to one more topic at all addresses."""
        for socket in self._subscribers.values():
            socket.subscribe(topic)

    def unfollow(self, topic: bytes) -> None:
        """Ends a subscription."""
        for socket in self._subscribers.values():
            socket.unsubscribe(topic)

    def _dial(self, place: str) -> None:
        try:
            address.check(place)
            dealer = self._socket(zmq.DEALER, place)
        except (zmq.ZMQError, Configuration) as error:
            _LOG.warning("%s: the address %r of a reducer cannot be used: %s", self.title, place, error)
            self.machine.could_not_dial()
            return
        self._close(self._dealer)
        self._dealer = dealer

    def _new_push(self, endpoint: str) -> None:
        push = self._socket(zmq.PUSH, endpoint)
        self._close(self._push)
        self._push, self._push_endpoint = push, endpoint

    def _connect(self, introduction: wire.Introduction) -> None:
        place = self.machine.place
        try:
            self._subscribe(place, address.other(place, introduction.publisher))
            self._new_push(address.other(place, introduction.collector))
        except zmq.ZMQError as error:
            _LOG.warning("%s: the reducer at %s names addresses that cannot be used: %s", self.title, place, error)
            self.machine.could_not_connect()

    # A turn.

    def wake(self) -> None:
        """Has a turn soon, for what the process has handed over."""
        if not self._is_woken and self._is_open:
            self._is_woken = True
            self._loop.call_soon(self._turn_if_woken)

    def _turn_if_woken(self) -> None:
        if self._is_woken:
            self._turn()

    def tell(self, data: bytes) -> None:
        """Sends over DEALER; what matters is repeated."""
        self._has_sent = True
        with contextlib.suppress(zmq.ZMQError):
            self._dealer.send(data, zmq.NOBLOCK)

    def _turn(self) -> None:
        """Has a turn. An error in it, which would be one of this package, costs that turn and not the process."""
        self._is_woken = False
        if not self._is_open:
            return
        try:
            self._take_turn()
        except Exception:
            _LOG.exception("%s: a turn failed", self.title)
            self._set_timer(_TURN_EVERY)

    def _set_timer(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._is_open:
            self._timer = self._loop.call_later(seconds, self._turn)

    def _take_turn(self) -> None:
        """Reads everything, acts, sends. The descriptors of ZeroMQ tell of changes only, and sending takes such news too.

        So the turn ends when nothing was read and nothing was sent.
        """
        self._say_if_late(time.monotonic())
        while self._is_open:
            self._has_sent = False
            count = self._read()
            now = time.monotonic()
            self.machine.advance(now)
            due = self.tend(now)
            self._perform()
            if not self._is_open:
                return
            self._send_batches()
            if count >= _FRAMES_IN_A_TURN:
                # Bodies have their turn in between.
                self.wake()
                return
            if not count and not self._has_sent:
                break
        self._say_if_lost(now)
        due = min(due, self.machine.deadline, now + _TURN_EVERY)
        self._set_timer(max(due - now, 0.001))

    @property
    def turn_limit(self) -> float:
        """How long the event loop may have no turn before that is said, in seconds: half of the lease, and the usual pause."""
        return _TURN_EVERY + self.machine.silence / 2

    def _say_if_late(self, now: float) -> None:
        """A body that blocks the event loop keeps the lease from being renewed."""
        gap, self.turned_at = now - self.turned_at, now
        if gap > self.turn_limit:
            _LOG.warning(
                "%s: the event loop had no turn for %.1f s: the process was stopped, or %s", self.title, gap, self.what_blocks
            )

    def _read(self) -> int:
        count = 0
        if self._push is not None:
            # Nothing is read from it. But its descriptor stays readable, and asks for turns, until its events were looked at.
            self._push.getsockopt(zmq.EVENTS)
        for place, socket in [*self._subscribers.items(), ("", self._dealer)]:
            while count < _FRAMES_IN_A_TURN and _can_read(socket):
                data = _whole(socket)
                count += 1
                try:
                    self._take_frame(data, place)
                except (wire.Malformed, Misfit):
                    self.machine.dropped += 1
        return count

    def _take_frame(self, data: bytes, place: str) -> None:
        """Takes a frame that was published at an address, or an answer over DEALER, which has none."""
        channel, at = wire.channel(data) if place else (b"", 0)
        header, message = wire.read(data, at)
        now = time.monotonic()
        if channel == wire.INBOX:
            self.machine.receive_published(header, message, place, now)
        elif place:
            self.machine.hear(header, message, place, now)
        else:
            self.machine.receive_reply(header, message, now)
        if place in ("", self.machine.place):
            self.hear(data[:at], header, message)

    def _perform(self) -> None:
        """Performs the actions of the machine, behind what must be on disk before."""
        self._keep()
        while self._is_open and (actions := self.machine.take_actions()):
            for action in actions:
                if type(action) in _FOR_SUBCLASSES:
                    self.handle(action)
                elif isinstance(action, machine.Settled):
                    self._settled(action)
                elif isinstance(action, machine.Space):
                    self._space.tell()
                elif isinstance(action, machine.Send):
                    self.tell(action.data)
                elif isinstance(action, machine.Connect):
                    self._connect(action.introduction)
                elif isinstance(action, machine.Dial):
                    self._dial(action.place)
                    self._look_up()
                elif isinstance(action, machine.NewPush):
                    self._new_push(self._push_endpoint)
                elif isinstance(action, machine.KeptWaiting):
                    _LOG.warning("%s: the reducer asks to try again later: %s", self.title, action.reason)
                elif isinstance(action, machine.Admitted):
                    self._joined()
                    self.handle(action)
                else:
                    self._end(action)
                if not self._is_open:
                    return

    def _keep(self) -> None:
        """Has on disk what must not leave before it is there, or ends."""
        try:
            self._write()
        except Configuration as error:
            self.shut(error)

    def _write(self) -> None:
        if self._file is not None and self._is_open:
            try:
                self._file.keep(self.machine)
            except (sqlite3.Error, OverflowError) as error:
                raise Configuration(f"the outbox {self._outbox_path} cannot be written: {error}") from None

    def _send_batches(self) -> None:
        while self._push is not None:
            batch = self.machine.next_batch()
            if batch is None:
                break
            first, data = batch
            try:
                self._push.send(data, zmq.NOBLOCK)
            except zmq.ZMQError:
                self.machine.could_not_push(first)
                break
            self._has_sent = True

    def _end(self, action: machine.Action) -> None:
        error = self._failure
        if isinstance(action, machine.PeerRefused):
            error = NotAdmitted(refusal(action.refused))
        elif isinstance(action, machine.LoopEnded):
            self.loop_end = action.ended
        self._keep()
        self.shut(error)

    # Waiting for a reducer.

    def _joined(self) -> None:
        if self._said:
            _LOG.warning("%s: the reducer at %s answers again", self.title, self.machine.place)
        self._said = 0
        self._has_joined = True

    def _say_if_lost(self, now: float) -> None:
        if self.machine.phase in (machine.Phase.CLAIMING, machine.Phase.JOINED, machine.Phase.LEAVING, machine.Phase.OVER):
            self._lost_at = now
            return
        waited = now - self._lost_at
        limit = self._connect_timeout
        if limit is not None and not self._has_joined and waited >= limit:
            self._explain(waited, is_last=True)
            return
        due = _SAY_AFTER[self._said] if self._said < len(_SAY_AFTER) else _SAY_EVERY * (self._said - len(_SAY_AFTER) + 1)
        if waited >= due:
            self._said += 1
            self._explain(waited, is_last=False)

    def _explain(self, waited: float, is_last: bool) -> None:
        if self._asking is None or self._asking.done():
            self._asking = self._loop.create_task(self._say_why(waited, is_last))

    async def _say_why(self, waited: float, is_last: bool) -> None:
        place = self.machine.place
        reason = self.machine.busy_reason
        why = f"the reducer asks to try again later: {reason}" if reason else await address.why_silent(place, bool(self._keys))
        text = f"waiting for a reducer at {place} for {waited:.0f} s: {why}"
        if is_last and not self._has_joined:
            self._asking = None
            self.shut(NoReducer(text))
        else:
            _LOG.warning("%s: %s", self.title, text)

    def _look_up(self) -> None:
        """Names may have other addresses now."""
        if self._looking is None or self._looking.done():
            self._looking = self._loop.create_task(self._learn())

    async def _learn(self) -> None:
        places = await address.look_up(self.configuration.places)
        before = set(self.machine.search.places)
        self.machine.learn(places, time.monotonic())
        if len(places) > 1:
            for place in places:
                if place not in self._subscribers:
                    self._subscribe(place, address.publisher(place))
        for place in before - set(places) - {self.machine.place}:
            if place in self._subscribers:
                self._close(self._subscribers.pop(place))
        self.wake()


def _descriptor(socket: zmq.Socket[bytes]) -> int:
    return int(socket.getsockopt(zmq.FD))


def _can_read(socket: zmq.Socket[bytes]) -> bool:
    return int(socket.getsockopt(zmq.EVENTS)) & zmq.POLLIN != 0


def _whole(socket: zmq.Socket[bytes]) -> bytes:
    """One message, or nothing if it has several frames: the protocol has no such message."""
    data = socket.recv(zmq.NOBLOCK)
    while socket.getsockopt(zmq.RCVMORE):
        socket.recv()
        data = b""
    return data
