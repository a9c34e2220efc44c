"""Peers of a Loop reducer, written from docs/spec/1-PROTOCOL.md alone. Needs python3-zmq and python3-cbor2."""

import argparse
import json
import os
import signal
import sys

sys.dont_write_bytecode = True
# The frames are those of the conformance kit.
sys.path.append(os.path.join(os.path.dirname(__file__), "../../conform/src"))

import cbor2  # noqa: E402

import answers  # noqa: E402
import attacker  # noqa: E402
import hostile  # noqa: E402
import vectors  # noqa: E402
from address import Address  # noqa: E402
from observer import Observer  # noqa: E402
from peer import PeerRefused  # noqa: E402
from sender import Sender  # noqa: E402
from worker import Worker, booker  # noqa: E402


def say(document: dict) -> None:
    print(json.dumps(document, separators=(",", ":"), ensure_ascii=False), flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="IndependentPeer", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)

    def peer(name: str, text: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("--reducer", required=True, metavar="ENDPOINT", help="the reducer's address")
        command.add_argument("--key", metavar="FILE", help="a secret certificate: NAME.key_secret")
        command.add_argument("--server-key", metavar="FILE", help="the reducer's certificate: server.key")
        command.add_argument("--seconds", type=float, default=60, help="how long at most")
        command.add_argument("--name", default="python", help="for people")
        return command

    check = commands.add_parser("vectors", help="read the vectors of the specification, and write them again")
    check.add_argument("file")

    tried = commands.add_parser("answers", help="try the specification's answers to those who write a peer")
    tried.add_argument("--programs", required=True, metavar="FOLDER", help="where loop-reducer, loop-effect and loopctl are")
    tried.add_argument("--only", type=int, action="append", default=[], metavar="N", help="one of the checks; default: all")

    observer = peer("observer", "follow the state, until a seq")
    observer.add_argument("--until", type=int, default=0, metavar="SEQ", help="print the state of this seq or a later one, and end")
    observer.add_argument("--current", action="store_true", help="print a state that is not older than the call, and end")

    sender = peer("sender", "send events, and say what became of them")
    sender.add_argument("--events", default="/dev/stdin", metavar="FILE", help="one event in JSON on each line")
    sender.add_argument("--roughness", type=float, default=0, help="the share of batches that are lost, doubled, late")
    sender.add_argument("--seed", type=int, default=0, help="draws which")
    sender.add_argument("--at-once", type=int, default=64, help="how many events may wait for their outcome")

    sender.add_argument("--ask", action="store_true", help="ask for the answer to each event")

    worker = peer("worker", "run effects of the ledger, until SIGTERM")
    worker.add_argument("--loop", default="", help="the loop's name, of a peer that has the definition")
    worker.add_argument("--schema", type=int, default=0)
    worker.add_argument("--feedback", action="append", default=[], metavar="NAME@PLACEMENT")
    worker.add_argument("--group", action="append", default=[])
    worker.add_argument("--capacity", type=int, default=8)
    worker.add_argument("--until", metavar="FILE", help="no deposit is booked until there is this file")

    attack = peer("attacker", "attack a reducer")
    attack.add_argument("attack", choices=sorted(attacker.ATTACKS))
    attack.add_argument("--count", type=int, default=10_000, help="how many hostile messages")
    attack.add_argument("--least", type=int, default=0, help="how many to send although the time is over")
    attack.add_argument("--seed", type=int, default=0, help="draws everything")

    many = commands.add_parser("hostile", help="attack two reducers, and measure what a well-behaved peer notices")
    many.add_argument("--programs", required=True, metavar="FOLDER", help="where loop-reducer and loopctl are")
    many.add_argument("--messages", type=int, default=10_000_000, help="how many hostile messages at least")
    many.add_argument("--attack", action="append", choices=sorted(attacker.ATTACKS), help="one of the attacks; default: all")
    many.add_argument("--processes", type=int, default=3, help="how many attackers at once")
    many.add_argument("--calm", type=float, default=60, help="how many seconds without an attack come first")
    return parser.parse_args()


def observe(given, address: Address) -> int:
    observer = Observer(address)
    if given.current:
        is_there = observer.run_until_current(given.seconds)
    else:
        is_there = observer.run(lambda one: one.seq is not None and one.seq >= given.until and one.compared > 0, given.seconds)
    say(observer.report() | {"state": cbor2.loads(observer.state) if observer.state else None})
    observer.close()
    return 0 if is_there else 1


def send(given, address: Address) -> int:
    with open(given.events, encoding="utf-8") as file:
        payloads = [cbor2.dumps(json.loads(line), canonical=True) for line in file if line.strip()]
    sender = Sender(address, payloads, given.at_once, given.roughness, given.seed, asks=given.ask, name=given.name)
    is_done = sender.run(given.seconds)
    sender.leave()
    answers = [cbor2.loads(value) if code == 0 else code for code, value in sender.answers]
    say(sender.report() | ({"answers": answers} if given.ask else {}))
    sender.close()
    return 0 if is_done else 1


def run_effects(given, address: Address) -> int:
    worker = Worker(
        address, {"book": booker(given.until)}, given.group or ["default"], given.capacity, loop=given.loop, schema=given.schema,
        feedbacks=given.feedback, name=given.name,
    )  # fmt: skip
    stops = []
    signal.signal(signal.SIGTERM, lambda *_: stops.append(1))
    worker.run(lambda: stops, given.seconds)
    worker.stop()
    say(worker.report())
    worker.close()
    return 0


def main() -> int:
    given = arguments()
    if given.command == "vectors":
        return vectors.check(given.file)
    if given.command == "answers":
        return answers.run(given.programs, given.only)
    if given.command == "hostile":
        attacks = given.attack or sorted(attacker.ATTACKS)
        return hostile.run(given.programs, attacks, given.messages, given.processes, given.calm)
    address = Address(given.reducer, given.key, given.server_key)
    if given.command == "attacker":
        say(attacker.attack(given.attack, address, given.count, given.least, given.seconds, given.seed))
        return 0
    try:
        return {"observer": observe, "sender": send, "worker": run_effects}[given.command](given, address)
    except PeerRefused as refusal:
        say({"refused": str(refusal)})
        return 3


sys.exit(main())
