"""Keys of CURVE, from the files that `loopctl keygen` writes (docs/keys.md)."""

from __future__ import annotations

import os
import re
import stat
import struct
from pathlib import Path
from typing import NamedTuple

from zmq.utils import z85

from .errors import Configuration

_KEY = re.compile(r'^\s*(public-key|secret-key)\s*=\s*"(.*)"\s*$', re.MULTILINE)
_LENGTH = 40


class Keys(NamedTuple):
    """A peer's own pair, and the reducer's public key; each has the 40 characters of Z85."""

    public: bytes
    secret: bytes
    reducer: bytes


def load(own: str | os.PathLike[str] | None, reducer: str | None) -> Keys | None:
    """The keys of a peer: `own` is its NAME.key_secret, `reducer` the file server.key, or the 40 characters in it.

    None if neither is given. Raises `Configuration`.
    """
    if not own and not reducer:
        return None
    if not own or not reducer:
        missing, given = ("--key (LOOP_KEY)", "--reducer-key") if not own else ("--reducer-key (LOOP_REDUCER_KEY)", "--key")
        raise Configuration(f"{given} needs {missing} too: a peer has its own key, and knows the reducer by another one")
    pair = _read(Path(own))
    for name in ("secret-key", "public-key"):
        if name not in pair:
            raise Configuration(f"{own} has no {name}: give the file NAME.key_secret, as loopctl keygen writes it")
    _check(Path(own))
    if len(reducer) == _LENGTH and not os.path.exists(reducer):
        if not _is_key(reducer):
            raise Configuration(f"{reducer} is no file, and no key: give the reducer's server.key, or the 40 characters in it")
        server = reducer
    else:
        found = _read(Path(reducer))
        if "public-key" not in found:
            raise Configuration(f"{reducer} has no public-key: give the reducer's server.key, or the 40 characters in it")
        server = found["public-key"]
    return Keys(pair["public-key"].encode(), pair["secret-key"].encode(), server.encode())


def _is_key(text: str) -> bool:
    try:
        return len(z85.decode(text)) == 32
    except (KeyError, ValueError, struct.error):
        return False


def _read(path: Path) -> dict[str, str]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise Configuration(f"the key {path} cannot be read: {reason}") from None
    found = dict(_KEY.findall(text))
    if not all(map(_is_key, found.values())):
        raise Configuration(f"{path} has a key that is none: loopctl keygen writes one of {_LENGTH} characters")
    return found


def _check(path: Path) -> None:
    """Raises `Configuration` for a secret key that is a link, or that is not this user's alone."""
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        raise Configuration(f"{path} is a symbolic link: name the file that it leads to")
    if status.st_uid != os.geteuid():
        raise Configuration(f"{path} belongs to user {status.st_uid}, and this process is of user {os.geteuid()}")
    if status.st_mode & 0o077:
        raise Configuration(f"others can read or change {path}: chmod 600 {path}")
