"""Addresses of reducers, and why there is no answer at one."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Sequence
from typing import NamedTuple

from .errors import Configuration, require
from .search import PLACES_MAX

FALLBACK = "tcp://127.0.0.1:7710"
_FORM = "an address is tcp://HOST:PORT or ipc://PATH; an IPv6 host has brackets"


class Tcp(NamedTuple):
    """A host and a port."""

    host: str
    port: int


def parse(text: str) -> list[str]:
    """The addresses of a text, with commas in between. Raises `Configuration`."""
    require(isinstance(text, str), "the reducer's address", text, f"a text such as {FALLBACK}")
    places = [part.strip() for part in text.split(",")]
    if len(places) > PLACES_MAX:
        raise Configuration(f"{len(places)} addresses are too many: give at most {PLACES_MAX}")
    for place in places:
        check(place)
    return places


def check(place: str) -> None:
    """Raises `Configuration` for a text that is no address."""
    if place.startswith("ipc://") and len(place) > len("ipc://"):
        return
    if tcp(place) is None:
        raise Configuration(f"{place!r} is no address: {_FORM}")


def tcp(place: str) -> Tcp | None:
    """The host and the port of an address, if it has them."""
    host, colon, port = place.removeprefix("tcp://").rpartition(":")
    is_bracketed = host.startswith("[") and host.endswith("]")
    if not place.startswith("tcp://") or not colon or not host or (":" in host and not is_bracketed):
        return None
    if not port.isdecimal() or not 1 <= int(port) <= 65535:
        return None
    return Tcp(host.strip("[]"), int(port))


def other(place: str, named: str) -> str:
    """The address of another socket of a reducer, as its introduction names it: a port, or the whole."""
    return place.rpartition(":")[0] + ":" + named if named.isdecimal() else named


def publisher(place: str) -> str:
    """Where `--bind` would have PUB."""
    found = tcp(place)
    return place + ".pub" if found is None else other(place, str(min(found.port + 1, 65535)))


async def look_up(places: Sequence[str]) -> list[str]:
    """The addresses that the names have now: the first of each name, then the second of each; IPv4 first. At most five."""
    loop = asyncio.get_running_loop()
    columns: list[list[str]] = []
    for place in places:
        found = tcp(place)
        if found is None or _is_numeric(found.host):
            columns.append([place])
            continue
        try:
            infos = await loop.getaddrinfo(found.host, found.port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            columns.append([place])
            continue
        infos.sort(key=lambda info: info[0] != socket.AF_INET)
        hosts = [f"[{info[4][0]}]" if info[0] == socket.AF_INET6 else str(info[4][0]) for info in infos]
        columns.append([f"tcp://{host}:{found.port}" for host in dict.fromkeys(hosts)])
    rows = [column[at] for at in range(max(map(len, columns))) for column in columns if at < len(column)]
    return list(dict.fromkeys(rows))[:PLACES_MAX]


def _is_numeric(host: str) -> bool:
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True


async def why_silent(place: str, has_keys: bool) -> str:
    """Why there is no answer at an address, as far as a connection of its own can see."""
    found = tcp(place)
    try:
        if found is None:
            opening = asyncio.open_unix_connection(place.removeprefix("ipc://"))
        else:
            opening = asyncio.open_connection(found.host, found.port)
        reader, writer = await asyncio.wait_for(opening, 1)
    except socket.gaierror as error:
        return f"the host name has no address ({error.strerror})"
    except ValueError as error:
        return f"this can be no address ({error})"
    except (ConnectionRefusedError, FileNotFoundError):
        return "nothing listens there; is the address right? (--reducer or LOOP_REDUCER)"
    except (OSError, asyncio.TimeoutError) as error:
        return f"it cannot be reached ({getattr(error, 'strerror', None) or 'no answer within 1 s'})"
    try:
        # The greeting of ZMTP: a signature and the version 3.
        writer.write(b"\xff\0\0\0\0\0\0\0\0\x7f\x03")
        greeting = await asyncio.wait_for(reader.readexactly(32), 1)
    except asyncio.TimeoutError:
        return "connections are accepted there, and nothing is said; the process is stopped, or is no reducer"
    except (OSError, asyncio.IncompleteReadError):
        return "connections are accepted there, and ended at once; look into the reducer's log"
    finally:
        writer.close()
    if greeting[:1] != b"\xff":
        return "what listens there does not speak ZeroMQ"
    mechanism = greeting[12:32].rstrip(b"\0").decode("latin-1")
    if mechanism == "CURVE" and not has_keys:
        return "what listens there does not talk without keys; give --key and --reducer-key"
    if mechanism == "NULL" and has_keys:
        return "what listens there has no keys; leave out --key and --reducer-key"
    if has_keys:
        return "a connection stands, but no reducer answers; does it admit this key, and is its own the one given?"
    return "a connection stands, but no reducer of this loop answers yet"
