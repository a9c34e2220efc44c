"""How a worker is, over HTTP: what `loop-effect` answers with `--http`."""

from __future__ import annotations

import asyncio
import bisect
import concurrent.futures
import hmac
import ipaddress
import re
import socket
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from .errors import Configuration

_PATHS = ("/livez", "/readyz", "/metrics")
_PATIENCE = 2.0
_SILENCE = 5.0
_CONNECTIONS_MAX = 64
_BOUNDS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0, 300.0)


class Place:
    """Where the answers are given, and the token that a request needs, or None. Raises `Configuration`."""

    def __init__(self, text: str, token_file: str | None) -> None:
        found = re.fullmatch(r"\[([0-9a-fA-F:]+)\]:(\d{1,5})|([^:\[\]/\s]+):(\d{1,5})", text)
        if found is None or int(found[2] or found[4]) > 65_535:
            raise Configuration(f"{text!r} is no address for HTTP; give HOST:PORT, such as 127.0.0.1:9710")
        self.host, self.port = found[1] or found[3], int(found[2] or found[4])
        self.is_loopback = self.host == "localhost" or _is_loopback(self.host)
        self.token: str | None = None
        if token_file is not None:
            self.token = _token(token_file)
        elif not self.is_loopback:
            raise Configuration(
                f"{text} can be reached from other machines, and shows how the worker is: give a file with a token "
                f"(--http-token FILE), or an address of this machine alone, such as 127.0.0.1:{self.port}"
            )

    def is_meant(self, host: str) -> bool:
        """Whether a request with this `Host` is for this server. A page may have pointed another name at it."""
        if not self.is_loopback:
            return True
        name = (host[: host.rfind(":")] if re.search(r":\d*$", host) else host).strip("[]").lower()
        return name in ("localhost", self.host.lower()) or name.endswith(".localhost") or _is_address(name)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _is_loopback(text: str) -> bool:
    return _is_address(text) and ipaddress.ip_address(text).is_loopback


def _token(file: str) -> str:
    try:
        with Path(file).open("rb") as opened:
            words = opened.read(4096).split(b"\n", 1)[0].strip()
    except OSError as error:
        raise Configuration(f"the token for HTTP could not be read from {file}: {error.strerror}") from None
    if re.fullmatch(rb"[!-~]{16,}", words) is None:
        raise Configuration(
            f"the first line of {file} is no token: a token has 16 or more visible characters of ASCII, and no spaces; "
            f"make one with: openssl rand -hex 32 > {file}"
        )
    return words.decode()


class Figures:
    """What a worker counts for its metrics."""

    def __init__(self) -> None:
        self.attempts: Counter[tuple[str, str]] = Counter()
        """The ended attempts by feedback and outcome."""
        self.runs: dict[str, list[int]] = defaultdict(lambda: [0] * (len(_BOUNDS) + 1))
        """How long attempts took until they ended or were stopped, by feedback: a count for each bucket."""
        self.seconds: dict[str, float] = defaultdict(float)
        """The sums of these times in seconds."""

    def note_run(self, feedback: str, seconds: float) -> None:
        """Counts an attempt that has ended or was stopped."""
        self.runs[feedback][bisect.bisect_left(_BOUNDS, seconds)] += 1
        self.seconds[feedback] += seconds

    def text(
        self, loop: str, losses: Mapping[str, int], is_joined: bool, capacity: int, running: int, entries: int, size: int
    ) -> str:
        """The metrics in the text of Prometheus. Their meanings are in docs/health.md."""
        name = re.sub(r'([\\"])', r"\\\1", loop).replace("\n", r"\n")
        lines: list[str] = []

        def family(kind: str, metric: str, meaning: str, samples: list[tuple[str, float]]) -> None:
            lines.extend((f"# HELP {metric} {meaning}", f"# TYPE {metric} {kind}"))
            lines.extend(f"{sample} {value:.9g}" for sample, value in samples)

        def gauge(metric: str, meaning: str, value: float) -> None:
            family("gauge", metric, meaning, [(metric, value)])

        gauge("loop_up", "Whether the worker's event loop answers.", 1)
        family("gauge", "loop_peer_info", "The loop of this peer.", [(f'loop_peer_info{{loop="{name}"}}', 1)])
        gauge("loop_ready", "Whether the peer is in contact with its reducer.", is_joined)
        gauge("loop_peer_capacity", "Effects that the peer may run at once.", capacity)
        gauge("loop_peer_running", "Effects that the peer runs.", running)
        gauge("loop_peer_outbox_entries", "Entries whose outcomes are not known.", entries)
        gauge("loop_peer_outbox_bytes", "The bytes of these entries.", size)
        family(
            "counter",
            "loop_peer_contact_lost_total",
            "How often the peer has lost its reducer.",
            [(f'loop_peer_contact_lost_total{{reason="{cause}"}}', count) for cause, count in losses.items()],
        )
        family(
            "counter",
            "loop_peer_attempts_total",
            "Ended attempts of effects.",
            [
                (f'loop_peer_attempts_total{{feedback="{feedback}",outcome="{outcome}"}}', count)
                for (feedback, outcome), count in sorted(self.attempts.items())
            ],
        )
        runs = "loop_effect_run_seconds"
        samples: list[tuple[str, float]] = []
        for feedback, counts in sorted(self.runs.items()):
            total = 0
            for bound, count in zip([*map(repr, _BOUNDS), "+Inf"], counts, strict=True):
                total += count
                samples.append((f'{runs}_bucket{{feedback="{feedback}",le="{bound}"}}', total))
            samples.append((f'{runs}_sum{{feedback="{feedback}"}}', self.seconds[feedback]))
            samples.append((f'{runs}_count{{feedback="{feedback}"}}', total))
        family("histogram", runs, "How long attempts took until they ended or were stopped.", samples)
        return "\n".join(lines) + "\n"


class Health:
    """Answers on threads of its own. The event loop says what, so an answer proves that it goes on.

    `report` gives whether the worker is in contact with its reducer, a line about that, and the metrics.
    """

    def __init__(self, place: Place, report: Callable[[], tuple[bool, str, str]]) -> None:
        loop = asyncio.get_running_loop()
        room = threading.BoundedSemaphore(_CONNECTIONS_MAX)

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            address_family = socket.AF_INET6 if ":" in place.host else socket.AF_INET

            def process_request(self, request: Any, client: Any) -> None:
                if room.acquire(blocking=False):
                    super().process_request(request, client)
                else:
                    self.shutdown_request(request)

            def process_request_thread(self, request: Any, client: Any) -> None:
                try:
                    super().process_request_thread(request, client)
                finally:
                    room.release()

            def handle_error(self, request: Any, client: Any) -> None:
                """A connection that breaks off is no news."""

        class Handler(BaseHTTPRequestHandler):
            timeout = _SILENCE
            server_version, sys_version = "loop", ""

            def do_GET(self) -> None:
                status, text = self._answer()
                data = text.encode()
                self.send_response(status)
                kind = "; version=0.0.4" if status == 200 and self.path == "/metrics" else ""
                self.send_header("Content-Type", f"text/plain{kind}; charset=utf-8")
                self.send_header("Content-Length", str(len(data)))
                if status == 401:
                    self.send_header("WWW-Authenticate", "Bearer")
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(data)

            do_HEAD = do_GET

            def log_message(self, format: str, *arguments: Any) -> None:
                pass

            def _answer(self) -> tuple[int, str]:
                host = self.headers.get("Host")
                if host is not None and not place.is_meant(host):
                    return 421, f"this server does not answer to the name {host}\n"
                if place.token is not None and not _has_token(self.headers.get("Authorization"), place.token):
                    return 401, "the request needs the token: Authorization: Bearer TOKEN\n"
                if self.path not in _PATHS:
                    return 404, f"there is no {self.path}; there are {', '.join(_PATHS)}\n"
                try:
                    is_joined, text, metrics = _ask(loop, report)
                except concurrent.futures.TimeoutError:
                    if self.path == "/metrics":
                        return 200, "# TYPE loop_up gauge\nloop_up 0\n"
                    return 503, f"the event loop has had no turn for {_PATIENCE:.0f} s: a body blocks, and must be a plain def\n"
                except RuntimeError:
                    return 503, "the worker has ended\n"
                if self.path == "/metrics":
                    return 200, metrics
                if self.path == "/livez":
                    return 200, "turns go on\n"
                return 200 if is_joined else 503, text + "\n"

        try:
            self._server = Server((place.host, place.port), Handler)
        except OSError as error:
            raise Configuration(f"cannot listen for HTTP at {place.host}:{place.port}: {error.strerror or error}") from None
        self.address = f"http://{'[' + place.host + ']' if ':' in place.host else place.host}:{self._server.server_port}/"
        self._thread = threading.Thread(target=self._server.serve_forever, name="loop_worker: HTTP", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Answers no more. Waits for the thread, for half a second."""
        self._server.shutdown()
        self._server.server_close()


def _has_token(header: str | None, token: str) -> bool:
    scheme, _, given = (header or "").partition(" ")
    return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), token.encode())


def _ask(loop: asyncio.AbstractEventLoop, report: Callable[[], tuple[bool, str, str]]) -> tuple[bool, str, str]:
    """Calls a function on the event loop. Raises `TimeoutError` if it has no turn in time, and `RuntimeError` if it is closed."""
    answer: concurrent.futures.Future[tuple[bool, str, str]] = concurrent.futures.Future()

    def make() -> None:
        try:
            answer.set_result(report())
        except BaseException as error:
            answer.set_exception(error)

    loop.call_soon_threadsafe(make)
    return answer.result(_PATIENCE)
