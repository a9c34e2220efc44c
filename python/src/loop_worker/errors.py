"""What goes wrong, for people and for programs."""

from __future__ import annotations

import enum
import numbers
import os
from datetime import timedelta
from typing import Any


class Refusal(enum.IntEnum):
    """Why an event was not applied (protocol, section 2)."""

    STALE = 1
    ATTEMPT = 2
    UNDECODABLE = 3
    TOO_LARGE = 4
    ENDED = 5
    HISTORY_CHANGED = 6
    OVERLOADED = 7
    CANCELLED = 8
    QUARANTINED = 9


_WORDS = {
    Refusal.STALE: "the effect is not wanted any more",
    Refusal.ATTEMPT: "the effect was given to another attempt",
    Refusal.UNDECODABLE: "this is no event of the loop",
    Refusal.TOO_LARGE: "the event is too large",
    Refusal.ENDED: "the loop has ended",
    Refusal.HISTORY_CHANGED: "the stream that it was sent in is gone, and whether it was applied is not known",
    Refusal.OVERLOADED: "the loop has more to do than it accepts",
    Refusal.CANCELLED: "the effect was cancelled",
    Refusal.QUARANTINED: "the event was set aside because it brought the reducer down",
}


class LoopError(Exception):
    """All errors of this package."""


class Refused(LoopError):
    """An event was not applied; with `HISTORY_CHANGED` this is unknown."""

    def __init__(self, code: int, detail: str = "") -> None:
        self.code = code
        self.detail = detail
        words = _WORDS[Refusal(code)] if code in Refusal.__members__.values() else f"the reducer's reason is {code}"
        super().__init__(f"refused: {words}" + (f": {detail}" if detail else ""))


class Unanswered(LoopError):
    """An event was applied, and has no answer."""

    def __init__(self, seq: int, why: str) -> None:
        self.seq = seq
        super().__init__(f"the event was applied at seq {seq}, and has no answer: {why}")


class NotAdmitted(LoopError):
    """The reducer does not let this peer in."""


class NoReducer(LoopError):
    """No reducer answered in time."""


class Configuration(LoopError):
    """An argument, an option, an address, a key or a file cannot be used."""


class Misfit(LoopError):
    """A value has another form than its type says."""


class Ended(LoopError):
    """The loop has ended, or the connection was closed."""


class Retry(Exception):
    """Raised by a body: this attempt has failed, and may be tried again, as the feedback's policy says.

    `after` is the earliest next try, in seconds from 0 or as a timedelta; more than a day counts as a day.
    """

    def __init__(self, reason: object = "", after: float | timedelta | None = None) -> None:
        super().__init__(str(reason))
        seconds = after.total_seconds() if isinstance(after, timedelta) else after
        require(seconds is None or is_number(seconds, 0), "after", after, "seconds from 0 on, a timedelta, or None")
        self.after = None if seconds is None else min(float(seconds), 86_400.0)


class Fail(Exception):
    """Raised by a body: this attempt has failed, and a retry cannot help."""


class Cancelled(BaseException):
    """Raised by `check` and `send` in a thread: the effect is not wanted any more.

    It is no `Exception`, so that bodies let it pass.
    """


def require(is_right: bool, what: str, value: object, instead: str) -> None:
    """Raises `Configuration` for an argument that is not right, with what to give instead."""
    if not is_right:
        raise Configuration(f"{what} is {shown(value)}; give {instead}")


def is_number(value: Any, least: float, most: float = float("inf")) -> bool:
    """Whether a value is a number of a range."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and least <= float(value) <= most


def is_whole(value: object) -> bool:
    """Whether a value is a whole number of 64 bits."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 64


def is_path(value: object) -> bool:
    """Whether a value can name a file."""
    path = os.fspath(value) if isinstance(value, os.PathLike) else value
    return isinstance(path, str) and path != "" and "\0" not in path


def is_text(value: object) -> bool:
    """Whether a value is a text that can be sent."""
    return isinstance(value, str) and not any("\ud800" <= character <= "\udfff" for character in value)


def require_loop(loop: object, schema: object) -> None:
    """Raises `Configuration` for a name of a loop, or a number of a schema, that is none."""
    require(is_text(loop), "the name of the loop", loop, 'a name, such as "orders"')
    require(is_whole(schema), "schema", schema, "a whole number of 64 bits, from 0 on")


def shown(value: object) -> str:
    """A value in an error, shortened."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
