"""Workers: what runs the effects of a loop."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import inspect
import logging
import numbers
import selectors
import sys
import threading
import time
import traceback
import typing
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor, ThreadPoolExecutor
from types import FrameType, SimpleNamespace
from typing import Any, TypeVar

from . import address, keys, machine, wire
from .errors import (
    Cancelled,
    Configuration,
    Ended,
    Fail,
    LoopError,
    Misfit,
    Refusal,
    Refused,
    Retry,
    is_text,
    require,
    require_loop,
    shown,
)
from .health import Figures, Health, Place
from .node import News, Node
from .options import Options
from .values import decoder, encode, loads
from .watchdog import Watchdog

_LOG = logging.getLogger("loop_worker")
_MESSAGE_MAX = 1000
_LINES_MAX = 10
_FAILURES_A_SECOND, _SECOND = 50, 1.0
_ENDED_MAX = 4096
_LINGERS_AFTER = 5.0
"""How long a cancelled body may go on in its thread before that is said, in seconds."""

Body = Callable[..., Any]
Call = Callable[[Any, "Effect"], Awaitable[Any]]
Middleware = Callable[[Any, "Effect", Call], Awaitable[Any]]
F = TypeVar("F", bound=Body)
Lingers = Callable[["Registered", "Effect", "concurrent.futures.Future[Any]"], None]


class Effect:
    """What a body knows of its effect, and how it sends events: the parameter `me`."""

    __slots__ = ("_calls", "_news", "_outbox", "_read", "_request", "failures", "feedback", "held", "is_over", "resumed")

    def __init__(self, outbox: Sender, feedback: str, grant: wire.Grant, read: Callable[[Any], Any], request: Any) -> None:
        self._outbox = outbox
        self._read = read
        self._request = request
        self._news: News | None = None
        self._calls: set[asyncio.Task[Any]] = set()
        self.feedback = feedback
        """The name of the feedback."""
        self.held = grant.effect + grant.attempt
        """The effect and the attempt, as they are on the wire."""
        self.failures = grant.failures
        """How often the effect has failed before."""
        self.resumed = grant.is_resumed
        """Whether an earlier attempt may have had events applied, or may have acted."""
        self.is_over = False
        """Whether the effect is not wanted any more."""

    @property
    def key(self) -> str:
        """The idempotency key for the outside world: the same at every attempt, and another for every other effect."""
        return self._outbox.key(self.held[:16])

    @property
    def request(self) -> Any:
        """The newest request."""
        return self._request

    async def requests(self) -> AsyncIterator[Any]:
        """The request that the body began with, or the newest one, then each later one. Ends when the effect is cancelled."""
        while not self.is_over:
            seen = self._request
            yield seen
            while self._request is seen and not self.is_over:
                self._news = self._news or News()
                await self._news.wait()

    async def send(self, event: object) -> None:
        """Sends an event. Returns when it is accepted: from then on it leaves without further action, in order.

        Waits while the outbox is full. Raises `Refused` if the event is too large, or the effect is not wanted any more.
        """
        await self._outbox.send(self.held, encode(event), None)

    async def confirm(self, event: object) -> int:
        """Sends an event, and returns the seq at which it was applied. Raises `Refused`."""
        future: asyncio.Future[machine.Settled] = asyncio.get_running_loop().create_future()
        await self._outbox.send(self.held, encode(event), future)
        return (await future).seq

    def progress(self, fraction: float, text: str = "") -> None:
        """Says for people how far the body has come, from 0 to 1. The newest report leaves with the next heartbeat."""
        _check_progress(fraction, text)
        self._outbox.report(self.held, fraction, text)

    def check(self) -> None:
        """Raises `Cancelled` if the effect is not wanted any more. For bodies in threads, which cannot be interrupted."""
        if self.is_over:
            raise Cancelled

    # By the worker.

    def renew(self, request: bytes) -> None:
        """Takes a newer request."""
        self.replace(self._read(loads(request)))

    def replace(self, request: Any) -> None:
        """Takes a newer request, as the body has it."""
        self._request = request
        self._tell()

    def end(self) -> None:
        """Takes note that the effect is not wanted any more."""
        self.is_over = True
        for call in self._calls:
            call.cancel()
        self._tell()

    def _tell(self) -> None:
        if self._news is not None:
            self._news.tell()

    async def call(self, function: Callable[[object], Awaitable[Any]], event: object) -> Any:
        """Calls a function for a body in a thread, as long as the effect is wanted."""
        task = asyncio.current_task()
        assert task is not None
        if self.is_over:
            raise asyncio.CancelledError
        self._calls.add(task)
        try:
            return await function(event)
        finally:
            self._calls.discard(task)


def _check_progress(fraction: object, text: object) -> None:
    require(isinstance(text, str), "text", text, "a text")
    require(isinstance(fraction, numbers.Real), "fraction", fraction, "a number from 0 to 1")


class BlockingEffect:
    """`me` of a body that is a plain `def`, in a thread. Calls wait for the worker's event loop."""

    def __init__(self, effect: Effect, loop: asyncio.AbstractEventLoop) -> None:
        self._effect = effect
        self._loop = loop
        self.feedback, self.failures, self.resumed = effect.feedback, effect.failures, effect.resumed

    @property
    def key(self) -> str:
        """See `Effect.key`."""
        return self._effect.key

    @property
    def request(self) -> Any:
        """The newest request."""
        return self._effect.request

    def _await(self, function: Callable[[object], Awaitable[Any]], event: object) -> Any:
        self.check()
        try:
            return asyncio.run_coroutine_threadsafe(self._effect.call(function, event), self._loop).result()
        except concurrent.futures.CancelledError:
            raise Cancelled from None

    def send(self, event: object) -> None:
        """See `Effect.send`. Raises `Cancelled` if the effect is not wanted any more."""
        self._await(self._effect.send, event)

    def confirm(self, event: object) -> int:
        """See `Effect.confirm`."""
        return int(self._await(self._effect.confirm, event))

    def progress(self, fraction: float, text: str = "") -> None:
        """See `Effect.progress`."""
        _check_progress(fraction, text)
        self._loop.call_soon_threadsafe(self._effect.progress, fraction, text)

    def requests(self) -> typing.NoReturn:
        """Is for async bodies."""
        raise Configuration("me.requests() is for async bodies; in a thread, me.request is the newest one")

    def check(self) -> None:
        """Raises `Cancelled` if the effect is not wanted any more."""
        self._effect.check()


class Sender(typing.Protocol):
    """Where the events of effects go."""

    def key(self, effect: bytes) -> str: ...
    def report(self, held: bytes, fraction: float, text: str) -> None: ...
    async def send(self, held: bytes, event: bytes, confirmed: asyncio.Future[machine.Settled] | None) -> None: ...


class Registered:
    """A body, and what is known of it from its signature."""

    def __init__(self, name: str, group: str, body: Body, pool: Executor | None) -> None:
        self.name, self.group, self.pool = name, group, pool
        self.body = body
        is_function = callable(body) and hasattr(body, "__name__") and not isinstance(body, type)
        require(is_function, f"the body of {name!r}", body, f"a function, such as async def {name}(request, me)")
        parameters = list(inspect.signature(body).parameters.values())
        positional = [one.name for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
        self.takes_me = positional[1:2] == ["me"]
        needed = [
            one.name for one in parameters if one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
        ]
        is_me_elsewhere = any(one.name == "me" for one in parameters) and not self.takes_me
        if not positional or is_me_elsewhere or not set(needed) <= {positional[0], "me"}:
            text = f"the effect {name!r}: a body takes the request, and may take `me` as the second parameter"
            raise Configuration(f"{text}; others need a default: def {body.__name__}(request, me)")
        hint = _hint(name, body, parameters[0])
        try:
            self.read = decoder(hint)
        except Misfit as error:
            raise Configuration(f"the effect {name!r}: {error}") from None
        self.is_stream = inspect.isasyncgenfunction(body)
        self.is_async = self.is_stream or inspect.iscoroutinefunction(body)
        if self.is_async and pool is not None:
            raise Configuration(f"the effect {name!r}: an async def runs on the event loop; a pool is for a plain def")
        if isinstance(pool, ProcessPoolExecutor) and self.takes_me:
            raise Configuration(f"the effect {name!r}: a body in another process has no `me`; let it take the request alone")


def _hint(name: str, body: Body, parameter: inspect.Parameter) -> Any:
    """The type of a body's request. The other types need not be known when the program runs."""
    if parameter.annotation is parameter.empty:
        return Any
    alone = SimpleNamespace(__annotations__={parameter.name: parameter.annotation})
    try:
        names = getattr(inspect.unwrap(body), "__globals__", {})
        return typing.get_type_hints(alone, names, include_extras=True)[parameter.name]
    except Exception as error:
        raise Configuration(
            f"the effect {name!r}: the type of {parameter.name}, {shown(parameter.annotation)}, is not known: {error}"
        ) from None


class Worker:
    """The effects that a process can run.

        worker = Worker("orders")

        @worker.effect("ship")
        async def ship(order: Order, me: Effect) -> Shipped: ...

        if __name__ == "__main__":
            worker.main()

    `loop` is the loop's name, `schema` that of its definition that these types are of; 0 fits every schema.
    """

    def __init__(self, loop: str, *, schema: int = 0) -> None:
        require(loop != "", "the name of the loop", loop, 'a name, such as "orders"')
        require_loop(loop, schema)
        self.loop, self.schema = loop, schema
        self.effects: dict[str, Registered] = {}
        self._middleware: list[Middleware] = []
        self.unended: set[concurrent.futures.Future[Any]] = set()
        """The calls of plain bodies that have not ended. A cancelled one goes on until it looks."""

    def effect(self, name: str, *, group: str = "default", pool: Executor | None = None) -> Callable[[F], F]:
        """Registers the body of a feedback's effects. `group` is that of `.on(.workers(group:))` in the definition.

        The body gets the request, as the type of its first parameter, and the effect, if its second one is called `me`. Other
        parameters keep their defaults.

        - An `async def` runs on the event loop. What it returns is the effect's last event: one, several in a list, or None.
        - An async generator sends each event that it yields.
        - A plain `def` runs in a thread, or in the given pool. In a process pool it takes the request alone.

        A body that raises has failed: `Retry(after=…)`, `Fail`, or any other error.
        """

        require(is_text(name), "the name of the feedback", name, 'a name: @worker.effect("ship")')
        require(is_text(group), "group", group, "the name of a group")
        require(pool is None or isinstance(pool, Executor), "pool", pool, "an Executor, or None for threads")

        def register(body: F) -> F:
            if name in self.effects:
                raise Configuration(f"the effect {name!r} has two bodies")
            self.effects[name] = Registered(name, group, body, pool)
            return body

        return register

    def middleware(self, function: Middleware) -> Middleware:
        """Registers what runs around each body: `async def around(request, me, call): return await call(request, me)`.

        The first one that is registered is the outermost.
        """
        self._middleware.append(function)
        return function

    def call(self, one: Registered, threads: Callable[[], Executor], lingers: Lingers | None = None) -> Call:
        """The body as one function, with the middleware around it, which returns the last event or events.

        `lingers` is told of each plain body that goes on after its effect was cancelled.
        """

        async def run(request: Any, me: Effect) -> Any:
            arguments: tuple[Any, ...] = (request, me) if one.takes_me else (request,)
            if one.is_stream:
                async with contextlib.aclosing(one.body(*arguments)) as events:
                    async for event in events:
                        await me.send(event)
                return None
            if one.is_async:
                return await one.body(*arguments)
            blocking = BlockingEffect(me, asyncio.get_running_loop())
            is_elsewhere = one.pool is not None and not one.takes_me and not isinstance(one.pool, ThreadPoolExecutor)
            arguments = (request, blocking) if one.takes_me else (request,)
            future = (one.pool or threads()).submit(_plain, one.body, arguments, None if is_elsewhere else blocking)
            self.unended.add(future)
            future.add_done_callback(self.unended.discard)
            try:
                return await asyncio.wrap_future(future)
            except asyncio.CancelledError:
                if lingers is not None and not future.done():
                    lingers(one, me, future)
                raise

        call: Call = run if not (one.is_async and not one.is_stream and one.takes_me) else one.body
        for function in reversed(self._middleware):
            call = _around(function, call)
        return call

    def main(self, arguments: Sequence[str] | None = None) -> typing.NoReturn:
        """Runs the worker as a program, with the options, variables and exit codes of `loop-effect`, and exits."""
        from .main import run

        sys.exit(run(self, sys.argv[1:] if arguments is None else arguments))

    @contextlib.asynccontextmanager
    async def running(self, options: Options | None = None) -> AsyncIterator[RunningWorker]:
        """Runs the worker as long as the block does, next to a web server or anything else on the same event loop.

        `options` are those of the command line; without them the variables of the environment count. At the end of the block the
        effects are handed back.
        """
        options = options or Options.of_environment()
        running = RunningWorker(self, options)
        await running.open()
        running.over.add_done_callback(running.say_over)
        try:
            yield running
        finally:
            if not await running.close(options.stop_limit):
                _LOG.error("%s: ended before the reducer has confirmed what was sent; it runs elsewhere", running.title)


class RunningWorker(Node):
    """A worker that has been started."""

    def __init__(self, worker: Worker, options: Options) -> None:
        effects = list(worker.effects.values())
        served = [one for one in effects if not options.groups or one.group in options.groups]
        if not served:
            known = ", ".join(sorted({one.group for one in effects})) or "none"
            raise Configuration(f"there is nothing to run: this worker has effects of the groups {known}")
        configuration = machine.Configuration(
            worker.loop,
            address.parse(options.reducer),
            worker.schema,
            sorted({one.group for one in served}),
            [f"{one.name}@workers({one.group})" for one in served],
            options.capacity,
            options.name,
        )
        own_keys = keys.load(options.key, options.reducer_key)
        super().__init__(configuration, own_keys, connect_timeout=options.connect_timeout, kind="worker")
        self._threads: ThreadPoolExecutor | None = None
        self._bodies = {one.name: (one, worker.call(one, self._pool, self._linger)) for one in served}
        self._tasks: dict[bytes, tuple[Effect, asyncio.Task[None]]] = {}
        self._feedbacks: list[tuple[Registered, Call] | None] = []
        self.cancelled: dict[asyncio.Task[None], Effect] = {}
        """The effects whose bodies were cancelled and have not ended."""
        self.what_blocks = "a thread holds the interpreter's lock, or the machine is busy"
        if any(one.is_async for one in served):
            self.what_blocks = f"an async body blocks it and must be a plain def, {self.what_blocks}"
        self._lingering: set[concurrent.futures.Future[Any]] = set()
        """The bodies in threads of this worker that go on after they were cancelled."""
        self._ended: dict[bytes, int] = {}
        """How often effects had failed before an attempt that ended here, not long ago, without a failure of its body."""
        self._told: set[tuple[str, type, str, int]] = set()
        """The failures whose tracebacks were logged: by feedback, type of the error, file and line."""
        self._said_since, self._said_count = 0.0, 0
        self._has_asked = False
        self.figures = Figures()
        self._place = None if options.http is None else Place(options.http, options.http_token)
        self._health: Health | None = None
        self._watchdog: Watchdog | None = None

    async def open(self) -> None:
        """Opens the sockets, and answers how it is."""
        await super().open()
        self._watchdog = Watchdog(lambda: self.turned_at, lambda: self.turn_limit, self._blocked)
        if self._place is None:
            return
        try:
            self._health = Health(self._place, self._report)
        except Configuration as error:
            self.shut(error)
            raise
        _LOG.info("%s: answers at %s", self.title, self._health.address)

    def _blocked(self, frame: FrameType) -> str:
        """What is known of a long turn of the event loop. Called on another thread."""
        task: Any = asyncio.current_task(self._loop)
        bodies = {own: me for me, own in list(self._tasks.values())} | dict(self.cancelled)
        me = bodies.get(task)
        text = f"{self.title}: the event loop has no turn, so the lease may run out"
        if frame.f_code.co_filename == selectors.__file__:
            return f"{text}; no line runs on it: a thread holds the interpreter's lock, or the machine is busy"
        if me is not None and self._bodies[me.feedback][0].is_async:
            text = f"{self.title}: the body of {me.feedback} {me.key} blocks the event loop, so the lease may run out"
            text += "; what blocks must be a plain def"
        stack = traceback.extract_stack(frame)
        below = [at for at, one in enumerate(stack) if (one.filename, one.name) == (__file__, "_run")]
        lines = "".join(traceback.format_list(stack[below[-1] + 1 if below else 0 :][-_LINES_MAX:]))
        return f"{text}; these lines run on it:\n{lines}"

    def _report(self) -> tuple[bool, str, str]:
        """Whether it is in contact with its reducer, a line about that, and its metrics."""
        own, is_joined = self.machine, self.machine.is_joined
        if is_joined:
            contact = f"it is in contact with the reducer at {own.place}"
        elif own.busy_reason:
            contact = f"the reducer at {own.place} is busy: {own.busy_reason}"
        else:
            contact = f"it has no contact with the reducer at {own.place}"
        metrics = self.figures.text(
            self.configuration.loop,
            own.losses,
            is_joined,
            self.configuration.capacity,
            len(self._tasks),
            own.outbox.count,
            own.outbox.byte_count,
        )
        return is_joined, contact, metrics

    def _pool(self) -> Executor:
        """The threads of plain bodies: one for each effect that is held, and as many for bodies that go on after a cancellation."""
        if self._threads is None:
            self._threads = ThreadPoolExecutor(2 * self.configuration.capacity, thread_name_prefix="effect")
        return self._threads

    def _linger(self, one: Registered, me: Effect, future: concurrent.futures.Future[Any]) -> None:
        """Takes note of a body that was cancelled and goes on, because no thread can be ended."""
        self._loop.call_later(_LINGERS_AFTER, self._say_lingers, one, me, future)
        if one.pool is None:
            self._lingering.add(future)
            self._offer()
            future.add_done_callback(self._thread_is_free)

    def _say_lingers(self, one: Registered, me: Effect, future: concurrent.futures.Future[Any]) -> None:
        if not future.done():
            what = "a thread" if one.pool is None else "a place of its pool"
            advice = "; it should call me.check()" if one.takes_me or one.pool is None else ""
            text = "%s: the body of %s %s was cancelled %g s ago, still runs, and holds %s%s"
            _LOG.warning(text, self.title, me.feedback, me.key, _LINGERS_AFTER, what, advice)

    def _thread_is_free(self, future: concurrent.futures.Future[Any]) -> None:
        """Called on the thread of the body."""
        self._lingering.discard(future)
        # The event loop may have ended.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._offer)

    def _offer(self) -> None:
        """Offers no more places than there are threads that are not held by cancelled bodies."""
        self.machine.places_lost = max(0, len(self._lingering) - self.configuration.capacity)

    # What the machine decides.

    def handle(self, action: machine.Action) -> None:
        kind = type(action)
        if kind is machine.Start:
            self._start(action.grant)  # type: ignore[union-attr]
        elif isinstance(action, machine.Stop):
            self._stop(action.effect)
        elif isinstance(action, machine.NewRequest):
            self._renew(action.effect, action.request)
        elif isinstance(action, machine.Settled):
            if action.code == Refusal.TOO_LARGE:
                _LOG.error("%s: an event of an effect was %s", self.title, Refused(action.code, action.detail))
        elif isinstance(action, machine.Admitted):
            self._admitted(action.feedbacks)

    def say_over(self, over: asyncio.Future[None]) -> None:
        """Says why the worker has ended, where nothing else does."""
        error = over.exception()
        if error is not None and not isinstance(error, Ended):
            _LOG.error("%s: %s", self.title, error)

    def _admitted(self, feedbacks: list[str]) -> None:
        self._feedbacks = [self._bodies.get(name) for name in feedbacks]
        names = ", ".join(name for name in feedbacks if name in self._bodies) or "no feedback"
        _LOG.info("%s: has joined the reducer at %s, with bodies for %s", self.title, self.machine.place, names)
        if not self._has_asked:
            self._has_asked = True
            self.tell(wire.status_wanted(self.machine.loop))
        for name in self._bodies.keys() - set(feedbacks):
            _LOG.warning("%s: the loop has no feedback %r; it has %s", self.title, name, ", ".join(sorted(feedbacks)) or "none")

    def hear(self, topic: bytes, header: wire.Header, message: wire.Message) -> None:
        """The status names the group of each feedback, which the join acceptance does not."""
        if not isinstance(message, wire.Status):
            return
        document = loads(message.document)
        listed = document.get("feedbacks") if isinstance(document, dict) else None
        for found in listed if isinstance(listed, list) else []:
            name, group = (found.get("name"), found.get("group")) if isinstance(found, dict) else (None, None)
            if isinstance(name, str) and isinstance(group, str) and name in self._bodies:
                own = self._bodies[name][0].group
                if own != group:
                    text = "%s: the effect %r is in the group %r of the loop, and its body is in %r, so it gets none: give group=%r"
                    _LOG.warning(text, self.title, name, group, own, group)

    def _start(self, grant: wire.Grant) -> None:
        number = wire.feedback_number(grant.effect)
        found = self._feedbacks[number] if number < len(self._feedbacks) else None
        held = grant.effect + grant.attempt
        if found is None:
            self._entry(wire.RELEASED, held, b"")
            return
        one, call = found
        if grant.failures and self._ended.pop(grant.effect, -1) == grant.failures - 1 and self._may_say():
            # The acknowledgement of an event that is refused for its bytes does not tell that (protocol, section 2).
            text = "%s: %s %s has one failure more, which no body here has raised: an event of it was refused, its time "
            text += "was up, or it failed elsewhere; the reducer's log and `loopctl history` say which"
            _LOG.warning(text, self.title, one.name, self.key(grant.effect))
        try:
            request = one.read(loads(grant.request))
        except Exception as error:
            # A type of the body may refuse what fits its fields.
            why = f"the request is not of the type of this body: {_text_of(error)}"
            if self._may_say():
                _LOG.error("%s: %s %s has failed for good: %s", self.title, one.name, self.key(grant.effect), why)
            self._entry(wire.FAILED, held, wire.failure(why[:_MESSAGE_MAX], is_final=True))
            return
        me = Effect(self, one.name, grant, one.read, request)
        task = self._loop.create_task(self._run(call, request, me))
        self._tasks[grant.effect] = me, task

    async def _run(self, call: Call, request: Any, me: Effect) -> None:
        held = me.held
        began, outcome = time.monotonic(), "failed"
        try:
            result = await call(request, me)
            if me.is_over:
                return
            if result is None:
                self._entry(wire.COMPLETED, held, b"")
            elif type(result) in (list, tuple):
                await self._send_all(held, result)
            else:
                # Most effects end with their only event, and the outbox mostly has space.
                event = encode(result)
                if self.machine.accept(wire.EVENT, wire.LAST, held, event):
                    self.wake()
                else:
                    await self.send(held, event, None, wire.LAST)
            outcome = "completed"
            self._note_end(me)
        except asyncio.CancelledError:
            if not me.is_over:
                # Other code of this process has cancelled this task.
                self._entry(wire.FAILED, held, wire.failure("the body was cancelled in this process"))
        except BaseException as error:
            if not self.machine.runs(held):
                # A stop has handed the effect back, and cancels the body next.
                me.end()
            if not me.is_over:
                self._failed(held, me, error)
        finally:
            tasks = self._tasks
            found = tasks.get(held[:16])
            if found is not None and found[0] is me:
                del tasks[held[:16]]
            if not me.is_over:
                self.figures.attempts[me.feedback, outcome] += 1
            self.figures.note_run(me.feedback, time.monotonic() - began)

    async def _send_all(self, held: bytes, events: Sequence[Any]) -> None:
        """Sends several events, of which the last ends the effect."""
        payloads = [encode(event) for event in events]
        size = max(map(len, payloads), default=0)
        if size > self.machine.event_bytes_max:
            raise machine.too_large(size, self.machine.event_bytes_max)
        for payload in payloads[:-1]:
            await self.send(held, payload, None)
        if payloads:
            await self.send(held, payloads[-1], None, wire.LAST)
        else:
            self._entry(wire.COMPLETED, held, b"")

    def _failed(self, held: bytes, me: Effect, error: BaseException) -> None:
        text = _text_of(error)
        if not isinstance(error, Retry | Fail | Refused):
            text = f"{type(error).__name__}: {text}" if text else type(error).__name__
        self._say_failed(me, error, text[:_MESSAGE_MAX])
        delay = error.after if isinstance(error, Retry) else None
        delay_ms = None if delay is None else round(delay * 1000)
        self._entry(wire.FAILED, held, wire.failure(text[:_MESSAGE_MAX], isinstance(error, Fail), delay_ms))
        if isinstance(error, BrokenExecutor) and _is_broken(self._bodies[me.feedback][0].pool):
            # Every later effect would fail in it too, and use up its tries.
            self.give_up(LoopError(f"the pool of the effect {me.feedback!r} is broken, start the worker again: {text}"))

    def _may_say(self) -> bool:
        """Whether one more failure may be logged in this second. The next line says how many were not."""
        now = time.monotonic()
        if now - self._said_since >= _SECOND:
            more = self._said_count - _FAILURES_A_SECOND
            if more > 0:
                _LOG.warning("%s: %d more failures came in the same second, and are not in this log", self.title, more)
            self._said_since, self._said_count = now, 0
        self._said_count += 1
        return self._said_count <= _FAILURES_A_SECOND

    def _say_failed(self, me: Effect, error: BaseException, text: str) -> None:
        """Logs a failure; of an error, where it was raised too, the first time."""
        if not self._may_say():
            return
        traced: BaseException | None = None
        if not isinstance(error, Retry | Fail):
            frame, line = list(traceback.walk_tb(error.__traceback__))[-1]
            place = me.feedback, type(error), frame.f_code.co_filename, line
            if place not in self._told or _LOG.isEnabledFor(logging.DEBUG):
                self._told.add(place)
                traced = error
        _LOG.warning("%s: %s %s failed: %s", self.title, me.feedback, me.key, text.replace("\n", "\\n"), exc_info=traced)

    def _note_end(self, me: Effect) -> None:
        """Takes note of an attempt that has ended without a failure of its body."""
        if len(self._ended) >= _ENDED_MAX:
            self._ended.clear()
        self._ended[me.held[:16]] = me.failures

    def _stop(self, effect: bytes) -> None:
        found = self._tasks.pop(effect, None)
        if found is not None:
            me, task = found
            self._note_end(me)
            me.end()
            task.cancel()
            self.cancelled[task] = me
            task.add_done_callback(self.cancelled.pop)

    def _renew(self, effect: bytes, request: bytes) -> None:
        found = self._tasks.get(effect)
        if found is None:
            return
        try:
            found[0].renew(request)
        except Exception as error:
            _LOG.error("%s: a newer request of %s is not of the type of its body: %s", self.title, found[0].key, _text_of(error))

    # What bodies send.

    def _entry(self, kind: int, held: bytes, payload: bytes) -> None:
        """An end, which is accepted even if the outbox is full."""
        self.machine.accept(kind, 0, held, payload)
        self.wake()

    async def send(self, held: bytes, event: bytes, confirmed: asyncio.Future[machine.Settled] | None, flags: int = 0) -> None:
        """Takes an event of an effect."""
        await self.accept(flags if confirmed is None else flags | wire.WANTS_SEQ, held, event, confirmed)

    def report(self, held: bytes, fraction: float, text: str) -> None:
        """Takes an effect's progress."""
        self.machine.report(held, fraction, text)

    def key(self, effect: bytes) -> str:
        """The idempotency key of an effect."""
        return f"{self.configuration.loop}/{self.machine.history:016x}/{wire.effect_text(effect)}"

    def shut(self, error: Any) -> None:
        """Ends at once, with all bodies."""
        if self._health is not None:
            # It waits for its thread, which the event loop does not.
            threading.Thread(target=self._health.close, name="loop_worker: end of HTTP").start()
            self._health = None
        if self._watchdog is not None:
            self._watchdog.close()
        for effect in list(self._tasks):
            self._stop(effect)
        if self._threads is not None:
            self._threads.shutdown(wait=False)
        super().shut(error)


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException as problem:
        return f"its text cannot be made: {type(problem).__name__}"


def _is_broken(pool: Executor | None) -> bool:
    """Whether a pool runs nothing more."""
    try:
        if pool is not None:
            pool.submit(int)
    except Exception as error:
        return isinstance(error, BrokenExecutor)
    return False


def _plain(body: Body, arguments: tuple[Any, ...], me: BlockingEffect | None) -> Any:
    """Runs a plain body in a thread, or without `me` in another process. A generator's events leave as it yields them."""
    try:
        result = body(*arguments)
        if inspect.iscoroutine(result):
            result.close()
            raise TypeError(f"the body, a plain def, has returned a coroutine of {result.__name__}: await it in an async def")
        if me is None or not isinstance(result, Iterator):
            return result
        return _send_each(result, me)
    except (StopIteration, SystemExit, KeyboardInterrupt) as error:
        # No future can hold the first, so the effect would wait for ever. The others would end the event loop.
        raise RuntimeError(f"the body raised {type(error).__name__}") from error


def _send_each(events: Iterator[Any], me: BlockingEffect) -> Any:
    """Sends each event, and returns what a generator returns."""
    try:
        while True:
            try:
                event = next(events)
            except StopIteration as end:
                return end.value
            me.send(event)
    finally:
        if inspect.isgenerator(events):
            events.close()


def _around(function: Middleware, call: Call) -> Call:
    async def around(request: Any, me: Effect) -> Any:
        inner: Any = None

        async def noted(request: Any, me: Effect) -> Any:
            nonlocal inner
            inner = await call(request, me)
            return inner

        result = await function(request, me, noted)
        if result is None and inner is not None:
            name = getattr(function, "__name__", shown(function))
            raise TypeError(f"the middleware {name} returns None for what call has returned: return that, or [] to send no event")
        return result

    return around
