"""ZMTP 3 over a plain connection: what a client library would not send. NULL, or CURVE with an admitted key.

Written from ZeroMQ RFC 23 (ZMTP), 25 (CurveZMQ) and 26.
"""

import os
import socket
import struct

from nacl.bindings import crypto_box, crypto_box_afternm, crypto_box_beforenm, crypto_box_keypair, crypto_box_open
from zmq.utils import z85

from address import Address

SIGNATURE = b"\xff" + bytes(8) + b"\x7f\x03\x00"


def greeting(mechanism: bytes) -> bytes:
    return SIGNATURE + mechanism.ljust(20, b"\0") + bytes(32)


def frame(flags: int, body: bytes) -> bytes:
    """A message frame (flags 0), one with more to come (1), or a command (4)."""
    if len(body) < 256:
        return bytes([flags, len(body)]) + body
    return bytes([flags | 2]) + struct.pack(">Q", len(body)) + body


def command(name: bytes, body: bytes) -> bytes:
    return frame(4, bytes([len(name)]) + name + body)


def properties(kind: bytes) -> bytes:
    """The metadata that say which socket the client is."""
    return b"\x0bSocket-Type" + struct.pack(">I", len(kind)) + kind


def mechanism(endpoint: str) -> str:
    """What a listener's greeting says it speaks, CURVE or NULL, without an answer to it that the listener could refuse."""
    host, _, port = endpoint.removeprefix("tcp://").rpartition(":")
    with socket.create_connection((host, int(port)), 10) as one:
        one.sendall(SIGNATURE[:11])
        said = b""
        while len(said) < 64 and (some := one.recv(64 - len(said))):
            said += some
    return said[12:32].rstrip(b"\0").decode()


class HandshakeFailed(Exception):
    """The server ended the connection, or said something else."""


class Connection:
    """A connection whose handshake is done: it makes frames that the server takes for a peer's."""

    def __init__(self, one: socket.socket, kind: bytes, address: Address):
        self.one = one
        self.box: bytes | None = None
        self.nonce = 0
        if address.server:
            self.greet_with_curve(kind, address)
        else:
            one.sendall(greeting(b"NULL") + command(b"READY", properties(kind)))

    def message(self, body: bytes, more: bool = False) -> bytes:
        """The bytes of a message on the wire, or of a part of one."""
        if self.box is None:
            return frame(1 if more else 0, body)
        self.nonce += 1
        short = struct.pack(">Q", self.nonce)
        sealed = crypto_box_afternm(bytes([1 if more else 0]) + body, b"CurveZMQMESSAGEC" + short, self.box)
        return frame(0, b"\x07MESSAGE" + short + sealed)

    def greet_with_curve(self, kind: bytes, address: Address) -> None:
        server, public, secret = (z85.decode(key) for key in (address.server, address.public, address.secret))
        short_public, short_secret = crypto_box_keypair()
        self.one.sendall(greeting(b"CURVE"))
        self.read(64)
        first = struct.pack(">Q", 1)
        proof = crypto_box(bytes(64), b"CurveZMQHELLO---" + first, server, short_secret)
        self.one.sendall(command(b"HELLO", b"\x01\x00" + bytes(72) + short_public + first + proof))
        welcome = self.expect(b"WELCOME")
        opened = crypto_box_open(welcome[16:], b"WELCOME-" + welcome[:16], server, short_secret)
        server_short, cookie = opened[:32], opened[32:]
        self.box = crypto_box_beforenm(server_short, short_secret)
        vouch_nonce = os.urandom(16)
        vouch = crypto_box(short_public + server, b"VOUCH---" + vouch_nonce, server_short, secret)
        second = struct.pack(">Q", 2)
        told = public + vouch_nonce + vouch + properties(kind)
        sealed = crypto_box_afternm(told, b"CurveZMQINITIATE" + second, self.box)
        self.one.sendall(command(b"INITIATE", cookie + second + sealed))
        self.expect(b"READY")
        self.nonce = 2

    def read(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            some = self.one.recv(count - len(data))
            if not some:
                raise HandshakeFailed("the connection ended")
            data += some
        return data

    def expect(self, name: bytes) -> bytes:
        """The body of the command that comes next."""
        flags, size = self.read(2)
        if flags & 2:
            size = struct.unpack(">Q", bytes([size]) + self.read(7))[0]
        body = self.read(size)
        if body[1 : 1 + body[0]] != name:
            raise HandshakeFailed(f"{body[:20]!r} instead of {name!r}")
        return body[1 + body[0] :]
