"""The options of a worker, as `loop-effect` has them. Each can come from the environment: LOOP_ and its name in capitals."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from . import address
from .errors import Configuration, is_number, is_text, require
from .health import Place

_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_LEVELS = ("debug", "info", "notice", "warning", "error")


class Usage(Exception):
    """Wrong usage of a program: exit code 64."""


def seconds(text: str) -> float:
    """A time with a unit, such as 500ms, 3s or 2m, in seconds. Raises `Configuration`."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]{1,9})?)(us|ms|s|m|h|d)", text)
    if found is None:
        raise Configuration(f"{text!r} is no time with a unit, such as 500ms, 3s or 2m")
    return float(found[1]) * _UNITS[found[2]]


@dataclass(frozen=True)
class Options:
    """Where a worker finds its reducer, and how much it does."""

    reducer: str = address.FALLBACK
    """The address of the reducer; with standbys, the addresses of all, with commas in between."""
    key: str | None = None
    """The file of this program's own key, NAME.key_secret."""
    reducer_key: str | None = None
    """The reducer's public key: the file server.key, or the 40 characters in it."""
    capacity: int = 16
    """How many effects it holds at once, 1 to 65,536."""
    groups: Sequence[str] = ()
    """The groups of effects to serve; none for all that the worker has bodies for."""
    name: str = ""
    """A name for people, shown by status."""
    stop_limit: float = 5.0
    """How long a stop waits until everything handed back is known, in seconds."""
    connect_timeout: float | None = None
    """How long the first contact with the reducer may take, in seconds; None for no limit."""
    log: str = "text"
    """`text` or `json`."""
    log_level: str = "info"
    http: str | None = None
    """Where it answers /livez, /readyz and /metrics, such as 127.0.0.1:9710; None for nowhere."""
    http_token: str | None = None
    """The file of the token that each of these requests needs, if the address is not of this machine alone."""

    def __post_init__(self) -> None:
        address.parse(self.reducer)
        is_count = isinstance(self.capacity, int) and is_number(self.capacity, 1, 65_536)
        require(is_count, "capacity", self.capacity, "a number from 1 to 65536")
        are_names = isinstance(self.groups, Sequence) and not isinstance(self.groups, str) and all(map(is_text, self.groups))
        require(are_names, "groups", self.groups, "a list of names")
        require(is_text(self.name), "name", self.name, "a text")
        require(is_number(self.stop_limit, 0), "stop_limit", self.stop_limit, "seconds from 0 on")
        is_time = self.connect_timeout is None or is_number(self.connect_timeout, 0)
        require(is_time, "connect_timeout", self.connect_timeout, "seconds from 0 on, or None")
        require(self.log in ("text", "json"), "log", self.log, "text or json")
        require(self.log_level in _LEVELS, "log_level", self.log_level, f"one of {', '.join(_LEVELS)}")

    @staticmethod
    def of_environment(environment: Mapping[str, str] | None = None) -> Options:
        """The options that the variables of the environment name. Raises `Configuration`."""
        try:
            return parse([], "worker", "", environment)
        except Usage as error:
            raise Configuration(str(error)) from None


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Usage(message)


def parse(arguments: Sequence[str], program: str, loop: str, environment: Mapping[str, str] | None = None) -> Options:
    """The options of a command line. Raises `Usage`, and `SystemExit` after the help."""
    given = os.environ if environment is None else environment
    words = list(arguments)
    if words and words[0] == loop:
        # `loopctl up` names the loop.
        del words[0]
    parser = _Parser(
        program,
        allow_abbrev=False,
        description=f"Run effects of the loop {loop} for its reducer, which may start later.",
        epilog="Every option can come from the environment too: LOOP_ and its name in capitals. Exit codes: 0 the loop has "
        "ended, or SIGTERM or SIGINT has stopped the worker; 2 could not run; 64 wrong usage; 130 ended at once by a second one.",
    )
    plain = Options()
    add = parser.add_argument
    add(
        "--reducer",
        metavar="ENDPOINT",
        help=f"the address of the reducer; with standbys, all, with commas (default: {plain.reducer})",
    )
    add("--key", metavar="FILE", help="this program's own key (NAME.key_secret), if the reducer has keys")
    add("--reducer-key", metavar="FILE", help="the reducer's public key: server.key, or the 40 characters in it")
    add("--capacity", metavar="N", help=f"how many effects this worker holds at once (default: {plain.capacity})")
    add("--group", metavar="GROUP", action="append", help="a group of effects to serve; again for more; none for all")
    add("--name", metavar="NAME", help="a name for people, shown by status")
    add("--stop-limit", metavar="TIME", help="how long a stop waits until everything handed back is known (default: 5s)")
    add("--connect-timeout", metavar="TIME", help="how long the first contact may take, or 0s to wait without a limit")
    add("--log", metavar="FORM", help="how the log is written to standard error: text, or json")
    add("--log-level", metavar="LEVEL", help="leave out of the log what matters less: " + ", ".join(_LEVELS))
    add("--http", metavar="HOST:PORT", help="answer /livez, /readyz and /metrics here, such as 127.0.0.1:9710")
    add("--http-token", metavar="FILE", help="a file whose first line every such request must bring as its bearer token")
    found = vars(parser.parse_args(words))

    def value(name: str, default: str) -> str:
        word: str | None = found[name]
        return given.get("LOOP_" + name.upper(), default) if word is None else word

    groups = found["group"] or [part.strip() for part in given.get("LOOP_GROUP", "").split(",") if part.strip()]
    try:
        http, http_token = value("http", "") or None, value("http_token", "") or None
        if http is not None:
            Place(http, http_token)
        capacity: Any = value("capacity", str(plain.capacity))
        return Options(
            value("reducer", plain.reducer),
            value("key", "") or None,
            value("reducer_key", "") or None,
            int(capacity) if capacity.isdecimal() else capacity,
            groups,
            value("name", ""),
            seconds(value("stop_limit", "5s")),
            seconds(value("connect_timeout", "0s")) or None,
            value("log", plain.log),
            value("log_level", plain.log_level),
            http,
            http_token,
        )
    except Configuration as error:
        raise Usage(str(error)) from None
