"""Sockets to a reducer: its three endpoints, and keys."""

import zmq
import zmq.auth


class Address:
    """Where a reducer is, and by which keys it is spoken to."""

    def __init__(self, endpoint: str, key: str | None = None, server_key: str | None = None):
        self.endpoint = endpoint
        self.public, self.secret = zmq.auth.load_certificate(key) if key else (None, None)
        self.server = zmq.auth.load_certificate(server_key)[0] if server_key else None
        if (key is None) != (server_key is None):
            raise ValueError("--key and --server-key belong together")

    def other(self, named: str) -> str:
        """The endpoint of another socket, as the introduction names it: a port, or the whole."""
        if named.isdecimal():
            return self.endpoint.rpartition(":")[0] + ":" + named
        return named

    def beside(self, offset: int) -> str:
        """The endpoint of PUB (1) or PULL (2) by the rule of `--bind`."""
        if self.endpoint.startswith("tcp://"):
            host, _, port = self.endpoint.rpartition(":")
            return f"{host}:{int(port) + offset}"
        return self.endpoint + ["", ".pub", ".pull"][offset]

    def socket(self, context: zmq.Context, kind: int, endpoint: str | None = None) -> zmq.Socket:
        """A socket that is connected. Linger is 0, but for a peer's DEALER."""
        socket = context.socket(kind)
        socket.linger = 1000 if kind == zmq.DEALER else 0
        if self.server:
            socket.curve_publickey, socket.curve_secretkey = self.public, self.secret
            socket.curve_serverkey = self.server
        socket.connect(endpoint or self.endpoint)
        return socket
