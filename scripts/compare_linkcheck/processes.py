"""Programs that are started here and do not outlive this one."""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

running = []


class ToolError(Exception):
    """One of the compared programs, or a server, did not do its part."""


def say(text):
    print(f"compare: {text}", file=sys.stderr, flush=True)


def _end_with_parent():
    # PR_SET_PDEATHSIG: the kernel ends it when this process ends, for whatever reason.
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def start(command, **options):
    process = subprocess.Popen([str(word) for word in command], preexec_fn=_end_with_parent, **options)
    running.append(process)
    return process


def stop(process):
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if process in running:
        running.remove(process)


def stop_everything():
    for process in list(running):
        stop(process)


def run(command, seconds_max, good=(0,), log=None):
    """Runs a program to its end. Gives its seconds; what it prints goes to the file `log`."""
    began = time.monotonic()
    with open(log or os.devnull, "wb") as output:
        process = start(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
        try:
            code = process.wait(seconds_max)
        except subprocess.TimeoutExpired:
            raise ToolError(f"{command[0]} did not end within {seconds_max} s") from None
        finally:
            stop(process)
    if code not in good:
        tail = open(log, errors="replace").read()[-2000:] if log else ""
        raise ToolError(f"{' '.join(map(str, command))} ended with {code}\n{tail}")
    return time.monotonic() - began


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(url, process):
    """Waits until a server answers, whatever it answers."""
    for _ in range(200):
        if process.poll() is not None:
            raise ToolError(f"the server for {url} ended with {process.returncode}")
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.05)
    raise ToolError(f"nothing answers at {url}")
