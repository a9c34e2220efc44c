"""Deltas of states, by the vectors that the Swift tests write and read too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import cbor2
import pytest
from conftest import ROOT

from loop_worker import Case, Misfit, Tracked, encode, wire
from loop_worker.deltas import Fold, Plain
from loop_worker.values import decode, decoder

LINES = (ROOT / "Tests/LoopWireTests/Vectors/deltas.txt").read_text(encoding="utf-8").splitlines()
STEPS = [tuple(line.split("; ")) for line in LINES if line and line[0] != "#"]

Numbers = Annotated[dict[int, int], Tracked]


@dataclass(frozen=True)
class Page:
    title: str
    links: Numbers


class Closed(Case):
    pass


class Open(Case):
    _0: Annotated[dict[str, int], Tracked]


@dataclass(frozen=True)
class Site:
    name: str
    count: int
    pages: Annotated[dict[str, Page], Tracked]
    parts: dict[str, Annotated[dict[int, str], Tracked]]
    lists: list[Numbers]
    sets: list[Numbers]
    phase: Closed | Open
    ranks: Numbers | None = None


@dataclass(frozen=True)
class Part:
    """The state as one who does not read all of it may describe it."""

    name: str
    pages: Annotated[dict[str, Any], Tracked]


def test_each_delta_makes_the_state_of_its_vector_with_its_hash() -> None:
    fold = Fold(Site)
    states: list[tuple[Plain, str]] = []
    for name, delta, whole, digits in STEPS:
        state = fold.delta(bytes.fromhex(delta), states[-1][0]) if states else fold.whole(bytes.fromhex(whole))
        assert encode(state.value).hex() == whole, name
        assert wire.fnv1a(encode(state.value)) == int(digits, 16), name
        assert decoder(Site)(state.value) == decode(bytes.fromhex(whole), Site), name
        states.append((state, whole))
    # A state that was shown stays as it was.
    for state, whole in states:
        assert encode(state.value).hex() == whole
    assert len(states) > 15


def test_entries_that_have_not_changed_are_read_once() -> None:
    fold, read = Fold(Numbers_of_pages), decoder(Numbers_of_pages)
    old = fold.whole(encode([1, {"title": "a", "links": []}, 2, {"title": "b", "links": []}]))
    new = fold.delta(encode([[], [], [2, {"title": "c", "links": [None]}], []]), old)
    assert read(new.value) == {1: Page("a", {}), 2: Page("c", {})}
    assert read(old.value)[2] == Page("b", {})
    assert read(new.value)[1] is read(old.value)[1]


Numbers_of_pages = Annotated[dict[int, Page], Tracked]


def test_a_state_whose_tracked_dictionaries_the_type_does_not_name_is_not_folded() -> None:
    fold = Fold(Part)
    before = fold.whole(bytes.fromhex(STEPS[9][2]))
    refused = 0
    for _, delta, whole, _ in STEPS[10:]:
        state = fold.whole(bytes.fromhex(whole))
        try:
            assert encode(fold.delta(bytes.fromhex(delta), before).value).hex() == whole
        except Misfit:
            refused += 1
        before = state
    assert refused == len(STEPS[10:])


@pytest.mark.parametrize(
    "delta",
    [
        [[], [], [], [1, 0]],
        [[], [9], [], []],
        [[], [], [9, 0], []],
        [[], [], [1], []],
        [["a"], [], [], []],
        [[1], [], [], []],
        [1, [], [], []],
        [[], 1, [], []],
        [[], [], 1, []],
        [[], [], [], None],
        [[], [], []],
        [[], [], [], [], []],
        [None, 1],
        [None, 1, 2, 1, 3],
        [],
        {},
        1,
        None,
        # 1, 1.0 and true are keys that Python takes for one.
        [[], [True], [], []],
        [[], [1.0], [], []],
    ],
)
def test_what_is_no_delta_of_the_state_is_an_error_and_leaves_the_state(delta: Any) -> None:
    fold = Fold(Numbers)
    base = fold.whole(encode([1, 1, 2, 2]))
    with pytest.raises(Misfit):
        fold.delta(encode(delta), base)
    assert encode(base.value) == encode([1, 1, 2, 2])


def test_a_changed_bit_of_a_delta_is_an_error_or_a_state() -> None:
    fold = Fold(Site)
    base = fold.whole(bytes.fromhex(STEPS[-2][2]))
    data = bytes.fromhex(STEPS[-1][1])
    for bit in range(len(data) * 8):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        try:
            encode(fold.delta(bytes(changed), base).value)
        except Misfit:
            continue
    with pytest.raises(Misfit):
        fold.delta(b"\x81" * 100_000 + b"\0", base)
    assert encode(base.value).hex() == STEPS[-2][2]


def test_a_type_inside_itself_is_folded() -> None:
    fold = Fold(Tree)
    base = fold.whole(cbor2.dumps({"inside": [], "next": {"inside": ["a", {"inside": []}]}}))
    delta = {"inside": [["inside"], [], [], []], "next": {"inside": [["next", "inside"], [], [], ["b", {"inside": [None]}]]}}
    state = decoder(Tree)(fold.delta(encode(delta), base).value)
    assert state == Tree({}, Tree({"a": Tree({}), "b": Tree({})}))


@dataclass
class Tree:
    inside: Annotated[dict[str, Tree], Tracked]
    next: Tree | None = None
