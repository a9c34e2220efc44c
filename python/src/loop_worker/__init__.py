"""Workers and clients of loops, in Python. docs/python.md begins with a first worker."""

from .client import Client, End, Outcome, State, StateID, Transition
from .errors import (
    Cancelled,
    Configuration,
    Ended,
    Fail,
    LoopError,
    Misfit,
    NoReducer,
    NotAdmitted,
    Refusal,
    Refused,
    Retry,
    Unanswered,
)
from .options import Options
from .values import Case, Tracked, decode, encode
from .worker import BlockingEffect, Effect, Worker

__all__ = [
    "BlockingEffect",
    "Cancelled",
    "Case",
    "Client",
    "Configuration",
    "Effect",
    "End",
    "Ended",
    "Fail",
    "LoopError",
    "Misfit",
    "NoReducer",
    "NotAdmitted",
    "Options",
    "Outcome",
    "Refusal",
    "Refused",
    "Retry",
    "State",
    "StateID",
    "Tracked",
    "Transition",
    "Unanswered",
    "Worker",
    "decode",
    "encode",
]
