"""Reducers as processes of this machine."""

import os
import subprocess
import time

from address import Address


class Reducer:
    """A process of `loop-reducer`, with a folder of its own.

    `keys` maps the names of keys to their roles; the reducer's own key is made too. Without any it runs without keys.
    """

    def __init__(
        self, programs: str, folder: str, loop: str, bind: str, *options: str, keys: dict | None = None, journal: str | None = None
    ):  # fmt: skip
        self.programs, self.folder, self.endpoint = programs, folder, bind
        os.makedirs(folder, exist_ok=True)
        self.keys = f"{folder}/keys" if keys else None
        for name, role in {"server": "reducer", **keys}.items() if keys else ():
            self.loopctl("keygen", self.keys, name, "--role", role)
        self.words = [
            f"{programs}/loop-reducer", loop, "--bind", bind, "--journal", journal or f"{folder}/journal",
            *(["--keys", self.keys] if keys else []), *options,
        ]  # fmt: skip
        self.start()

    def start(self) -> None:
        """Starts it, or starts it again from its journal, and waits until it listens, or waits for the journal of another one."""
        with open(f"{self.folder}/log", "wb") as log:
            self.process = subprocess.Popen(self.words, stdout=log, stderr=log)
        end = time.monotonic() + 20
        while time.monotonic() < end and self.process.poll() is None:
            said = self.log()
            if "; waiting for it\n" in said:
                return
            before, listens, after = said.partition("listening at ")
            if listens and "," in after:
                self.endpoint = after.partition(",")[0]
                return
            time.sleep(0.02)
        self.stop()
        raise RuntimeError(f"the reducer does not listen: {self.log()}")

    def log(self) -> str:
        with open(f"{self.folder}/log", encoding="utf-8", errors="replace") as log:
            return log.read()

    def stop(self) -> bool:
        """Ends it; false if it had to be killed."""
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return False
        return True

    def loopctl(self, *words: str) -> str:
        return subprocess.run([f"{self.programs}/loopctl", *words], check=True, capture_output=True, text=True).stdout

    def secret(self, name: str) -> str:
        return f"{self.keys}/{name}.key_secret"

    def key_options(self, name: str, server: str) -> list[str]:
        return ["--key", self.secret(name), server, f"{self.keys}/server.key"] if self.keys else []

    def address(self, name: str | None = None) -> Address:
        """Where it is, for the owner of a key."""
        return Address(self.endpoint, self.secret(name), f"{self.keys}/server.key") if self.keys else Address(self.endpoint)
