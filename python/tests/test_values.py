"""Values of Python types, as Swift's Codable has them."""

from __future__ import annotations

import enum
import math
import uuid
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Annotated, Any, Literal, NewType, TypedDict

import pytest
from conftest import ROOT

from loop_worker import Case, Misfit, Tracked, decode, encode
from loop_worker.values import loads

RFC = (ROOT / "Tests/CBORTests/Vectors/cbor-rfc8949.txt").read_text(encoding="utf-8").splitlines()


WHEN = datetime(2020, 1, 1, tzinfo=timezone.utc)


class Suit(enum.Enum):
    HEARTS = "hearts"


class Move(Case):
    from_: int
    to: int


class Put(Case):
    _0: int


class Reset(Case):
    pass


class Renamed(Case, name="somethingElse"):
    note: str | None = None


@dataclass
class Film:
    title: str
    year: int
    length: float | None = None
    seen: bool = field(default=False, metadata={"key": "wasSeen"})


@dataclass
class Comment:
    text: str
    replies: list[Comment]


class Reply(Case):
    _0: str
    to: Reply | None = None


@dataclass
class Opaque:
    own: list[Opaque]
    other: complex


@dataclass
class Shelf:
    films: Annotated[dict[str, Film], Tracked]
    last: Move | Put | Reset
    suits: list[Suit]
    at: datetime
    id: uuid.UUID


@pytest.mark.parametrize(
    ("value", "digits"),
    [
        (Move(1, 2), "a1646d6f7665a262746f026466726f6d01"),
        (Put(1), "a163707574a1625f3001"),
        (Reset(), "a1657265736574a0"),
        (Renamed(), "a16d736f6d657468696e67456c7365a0"),
        (Film("M", 1931), "a3647965617219078b657469746c65614d677761735365656ef4"),
        (Suit.HEARTS, "66686561727473"),
        (-1, "20"),
        (1.0, "f93c00"),
        (1.1, "fb3ff199999999999a"),
        (100000.0, "fa47c35000"),
        (math.nan, "f97e00"),
        ({1000: "a", "b": 1, -1: 2}, "a31903e8616120026162" + "01"),
        ({"b", "a", "aa"}, "8361616162626161"),
        (b"\1\2", "420102"),
        ([1, None, True], "8301f6f5"),
        (datetime(2001, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=1.5), "f93e00"),
        (uuid.UUID("00112233-4455-6677-8899-aabbccddeeff"), "7824" + b"00112233-4455-6677-8899-AABBCCDDEEFF".hex()),
        (2**64 - 1, "1bffffffffffffffff"),
    ],
)
def test_a_value_has_the_bytes_of_the_deterministic_encoding(value: object, digits: str) -> None:
    assert encode(value).hex() == digits


def test_typed_values_are_read_as_they_were_written() -> None:
    shelf = Shelf({"b": Film("M", 1931, 1.5), "a": Film("N", 1922)}, Put(3), [Suit.HEARTS], WHEN, uuid.UUID(int=7))
    assert decode(encode(shelf), Shelf) == shelf
    # A tracked dictionary keeps its order, as an array of keys and values.
    assert loads(encode(shelf))["films"][::2] == ["b", "a"]
    assert decode(encode([Move(1, 2), Reset()]), list[Move | Reset]) == [Move(1, 2), Reset()]
    assert decode(encode({"a": 1}), dict[str, int]) == {"a": 1}
    assert decode(encode(None), int | None) is None
    assert decode(encode({"title": "M", "year": 1, "unknown": 5}), Film) == Film("M", 1)
    assert decode(encode(5), Any) == 5


def test_a_type_may_be_part_of_itself() -> None:
    tree = Comment("a", [Comment("b", []), Comment("c", [Comment("d", [])])])
    assert decode(encode(tree), Comment) == tree
    chain = Reply("b", to=Reply("a"))
    assert decode(encode(chain), Reply) == chain
    for _ in range(2):
        with pytest.raises(Misfit, match="^Opaque.other: <class 'complex'> cannot be read"):
            decode(b"\xa0", Opaque)


@pytest.mark.parametrize(
    ("value", "kind", "why"),
    [
        ({"title": 5, "year": 1}, Film, "at title: expected text, found 5"),
        ({"title": "M"}, Film, "Film needs 'year', and there is 'title'"),
        ({"films": [], "last": {"jump": {}}}, Shelf, "at last: expected one of the cases move, put, reset, found {'jump': {}}"),
        ([1, "a"], list[int], "at 1: expected an integer, found 'a'"),
        ("spades", Suit, "expected one of 'hearts', found 'spades'"),
        (True, int, "expected an integer, found True"),
        ("x", uuid.UUID, "expected a UUID, found 'x'"),
        (1e300, datetime, "expected a date up to the year 9999, found 1e+300"),
        (math.nan, datetime, "expected a date up to the year 9999, found nan"),
        ([300], bytes, "expected bytes, found [300]"),
        (["a"], bytes, "expected bytes, found ['a']"),
    ],
)
def test_what_does_not_fit_is_named_with_its_place(value: object, kind: Any, why: str) -> None:
    with pytest.raises(Misfit) as error:
        decode(encode(value), kind)
    assert str(error.value) == why


def test_what_cannot_be_sent_is_named() -> None:
    with pytest.raises(Misfit, match="object cannot be sent"):
        encode(object())
    with pytest.raises(Misfit, match="does not fit into 64 bits"):
        encode(2**64)
    with pytest.raises(Misfit, match="has no zone"):
        encode(WHEN.replace(tzinfo=None))
    with pytest.raises(Misfit, match="this text is not Unicode"):
        encode("caf\udce9")


def made(kind: Any, *values: Any, **named: Any) -> Any:
    """A value whose fields need not be of their types."""
    return kind(*values, **named)


class Placed(Case):
    number: int
    films: list[Film]
    shelf: Annotated[dict[str, int], Tracked] | None = None
    price: float = 0
    note: str | int | None = None
    rest: Any = None
    pair: tuple[int, str] | None = None
    lists: list[int] | list[str] | None = None


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (made(Put, "a"), "Put._0 is declared as int: expected an integer, found 'a'"),
        (made(Put, True), "Put._0 is declared as int: expected an integer, found True"),
        (made(Put, None), "Put._0 is declared as int: expected an integer, found None"),
        (made(Put, "a" * 100), f"Put._0 is declared as int: expected an integer, found '{'a' * 56}..."),
        (made(Placed, 1, [Film("M", 1), made(Film, 2, 3)]), "at 1: Film.title is declared as str: expected text, found 2"),
        (made(Placed, 1, [], {"a": "b"}), "at a: expected an integer, found 'b'"),
        (made(Placed, 1, [], note=[]), "Placed.note is declared as str | int | None: expected text, found []; expected an integer"),
        (made(Placed, 1, [], lists=[[]]), "expected text, found []"),
        (made(Shelf, {}, Film("M", 1), [], WHEN, uuid.UUID(int=7)), "Shelf.last is declared as "),
        (made(Shelf, {}, Reset(), ["clubs"], WHEN, uuid.UUID(int=7)), "at 0: expected one of 'hearts', found 'clubs'"),
    ],
)
def test_a_field_that_is_not_of_its_type_is_named_when_it_is_encoded(value: object, why: str) -> None:
    with pytest.raises(Misfit) as error:
        encode(value)
    assert why in str(error.value)


def test_what_is_sent_as_its_type_is_sent() -> None:
    film = {"title": "M", "year": 1931, "wasSeen": False}
    placed = made(Placed, 1, [film], {"a": 1}, price=1, rest={1: [None]}, pair=(1, "a"), lists=["a"])
    plain = {"number": 1, "films": [film], "shelf": ["a", 1], "price": 1, "rest": {1: [None]}, "pair": [1, "a"], "lists": ["a"]}
    assert loads(encode(placed)) == {"placed": plain}


UserID = NewType("UserID", str)


class Signed(Case):
    by: UserID
    level: Literal["low", 2]
    place: tuple[int, UserID]


class Loose(Case):
    always: Any
    sometimes: Any = None


class Keyed(TypedDict):
    key: str


class Unreadable(Case):
    one: int
    two: list[Keyed]


class Nameless(Case):
    one: "Nowhere"  # type: ignore[name-defined]  # noqa: F821, UP037


def test_new_types_literals_and_tuples_of_a_length_are_checked() -> None:
    signed = Signed(UserID("a"), 2, (1, UserID("b")))
    assert loads(encode(signed)) == {"signed": {"by": "a", "level": 2, "place": [1, "b"]}}
    assert decode(encode(signed), Signed) == signed
    for wrong, why in (
        (made(Signed, 5, 2, (1, "b")), "expected text, found 5"),
        (made(Signed, "a", "high", (1, "b")), "expected one of 'low', 2, found 'high'"),
        (made(Signed, "a", 2.0, (1, "b")), "expected one of 'low', 2, found 2.0"),
        (made(Signed, "a", 2, (1, 2)), "at 1: expected text, found 2"),
        (made(Signed, "a", 2, (1,)), "expected an array of 2, found [1]"),
    ):
        with pytest.raises(Misfit) as error:
            encode(wrong)
        assert why in str(error.value)


def test_none_of_any_is_null_unless_it_is_the_default() -> None:
    assert loads(encode(Loose(None))) == {"loose": {"always": None}}


def test_a_type_that_cannot_be_read_is_an_error_when_its_class_is_first_encoded() -> None:
    for _ in range(2):
        with pytest.raises(Misfit, match=r"Unreadable.two is declared as list\[.*Keyed\]: .*Keyed'> cannot be read"):
            encode(Unreadable(1, []))
        with pytest.raises(Misfit, match=r"the types of Nameless are not known: name 'Nowhere' is not defined"):
            encode(made(Nameless, 1))
        with pytest.raises(Misfit, match=r"the types of Nameless are not known: name 'Nowhere' is not defined"):
            decode(b"\xa0", Nameless)


def test_a_value_that_contains_itself_or_is_too_deep_is_an_error() -> None:
    own: list[Any] = []
    own.append(own)
    for value in (own, Loose(own)):
        with pytest.raises(Misfit, match="^the value contains itself, or is too deep$"):
            encode(value)


def test_damaged_bytes_are_an_error() -> None:
    with pytest.raises(Misfit, match="a number of 64 bits"):
        decode(b"\xc2\x59\x01\x00" + bytes([255] * 256), float)
    for data in (b"", b"\xa1", b"\x5b\xff\xff\xff\xff\xff\xff\xff\xff", b"\xff"):
        with pytest.raises(Misfit):
            loads(data)
