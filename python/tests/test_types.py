"""Modules that are made of the schemas of loops."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from conftest import ROOT, client

from loop_worker import Client, Misfit, decode, encode
from loop_worker.pytest_plugin import StartReducer
from loop_worker.testing import Reducer
from loop_worker.types import main, module

INT = {"type": "integer"}
TEXT = {"type": "string"}
HEAD = "# Types of the loop orders, schema 3, made by python -m loop_worker.types.\n\nfrom __future__ import annotations\n\n"


def schema(state: Any, event: Any = TEXT, definitions: dict[str, Any] | None = None, **facts: Any) -> Any:
    return {
        "$defs": definitions or {},
        "x-loop": {"loop": "orders", "schema": 3, "event": event, "state": state, "feedbacks": [], **facts},
    }


def ref(name: str) -> Any:
    return {"$ref": f"#/$defs/{name}"}


def struct(**properties: Any) -> Any:
    return {"type": "object", "properties": properties, "required": list(properties)}


def cases(*names: str, **refs: str) -> Any:
    pairs = [*((name, name) for name in names), *refs.items()]
    return {"oneOf": [{"type": "object", "properties": {case: ref(name)}, "required": [case]} for case, name in pairs]}


def unknown(name: str, why: str) -> Any:
    return {"x-loop": {"type": name, "notKnown": why}}


def loaded(text: str, folder: Path) -> ModuleType:
    """The module of this text."""
    path = folder / f"made_{len(list(folder.glob('made_*.py')))}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(f"{folder.name}_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    # Hints are looked up in the module of their class.
    sys.modules[spec.name] = made
    spec.loader.exec_module(made)
    return made


def check(*paths: Path) -> None:
    """Fails if ruff or mypy complains, as far as they are installed."""
    config = ["--no-cache", "--config", str(ROOT / "python/pyproject.toml")]
    runs = [["ruff", "format", "--diff", *config], ["ruff", "check", *config]]
    runs.append(["mypy", "--strict", "--config-file=", "--python-version=3.10", f"--cache-dir={paths[0].parent / 'mypy'}"])
    for words in runs:
        if importlib.util.find_spec(words[0]):
            line = [sys.executable, "-m", *words, *map(str, paths)]
            done = subprocess.run(line, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout + done.stderr


def test_structs_are_frozen_dataclasses_with_snake_case_names_and_keys() -> None:
    item = struct(userName=TEXT, class_=INT, note=TEXT, bytes=INT, isOld={"type": "boolean"}) | {"required": ["bytes", "class_"]}
    item["properties"]["from"] = {"anyOf": [ref("Item"), {"type": "null"}]}
    assert module(schema(ref("Item"), definitions={"Item": item})) == HEAD + (
        "from dataclasses import dataclass, field\n"
        "from typing import TypeAlias\n"
        "\n\n"
        "@dataclass(frozen=True)\n"
        "class Item:\n"
        '    class_: int = field(metadata={"key": "class_"})\n'
        "    bytes_: int\n"
        '    user_name: str | None = field(default=None, metadata={"key": "userName"})\n'
        "    note: str | None = None\n"
        '    is_old: bool | None = field(default=None, metadata={"key": "isOld"})\n'
        "    from_: Item | None = None\n"
        "\n\n"
        "Event: TypeAlias = str\n"
        "State: TypeAlias = Item\n"
    )


def test_enums_are_unions_of_cases() -> None:
    definitions = {
        "Event": cases("none", "shipOrder", URLSeen="URLSeen", put="Put"),
        "none": {"type": "object"},
        "shipOrder": struct(_0=ref("Suit")),
        "URLSeen": struct(url=TEXT),
        "Put": struct(_0={"type": "number"}),
        "Suit": {"enum": ["hearts", "two words", "it's", 5]},
    }
    assert module(schema(INT, ref("Event"), definitions)) == HEAD + (
        "from enum import Enum\n"
        "from typing import TypeAlias\n"
        "\n"
        "from loop_worker import Case\n"
        "\n\n"
        'class None_(Case, name="none"):\n'
        "    pass\n"
        "\n\n"
        "class Suit(Enum):\n"
        '    HEARTS = "hearts"\n'
        '    TWO_WORDS = "two words"\n'
        '    IT_S = "it\'s"\n'
        "    VALUE5 = 5\n"
        "\n\n"
        "class ShipOrder(Case):\n"
        "    _0: Suit\n"
        "\n\n"
        'class URLSeen(Case, name="URLSeen"):\n'
        "    url: str\n"
        "\n\n"
        "class Put(Case):\n"
        "    _0: float\n"
        "\n\n"
        "Event: TypeAlias = None_ | ShipOrder | URLSeen | Put\n"
        "State: TypeAlias = int\n"
    )


def test_what_is_not_known_is_any_with_a_comment() -> None:
    definitions = {
        "Event": cases("put") | {"x-loop": {"isComplete": False}},
        "put": {"type": "object"},
        "Sync": {"oneOf": [], "x-loop": {"isComplete": False}},
        "Empty": {"type": "object", "x-loop": {"isComplete": False}},
        "Row": struct(sync=ref("Sync"), rest=unknown("Rest", "it reads nothing"), empty=ref("Empty")),
    }
    definitions["Row"]["x-loop"] = {"isComplete": False}
    text = module(schema(ref("Row"), ref("Event"), definitions, feedbacks=[{"name": "ship"}]))
    assert "# It may have more cases.\nEvent: TypeAlias = Put | Any\n" in text
    assert "# None of its cases is known.\nSync: TypeAlias = Any\n" in text
    plain = {"oneOf": [{"properties": {"end": {"type": "array", "items": INT}}}]}
    text_of_plain = module(schema(INT, ref("Event"), {"Event": plain}))
    assert "# Not known: a class for end, because its value has no keys.\nEvent: TypeAlias = dict[str, Any]\n" in text_of_plain
    assert "# None of its keys is known.\nEmpty: TypeAlias = Any\n" in text
    assert "# Not known: request, the loop does not say.\nShipRequest: TypeAlias = Any\n" in text
    assert (
        "class Row:\n"
        "    # It may have more keys, which are not read.\n"
        "    sync: Sync\n"
        "    # Not known: Rest, it reads nothing.\n"
        "    rest: Any\n"
        "    empty: Empty\n"
    ) in text


def test_names_that_clash_get_numbers_and_those_of_the_loop_stay() -> None:
    definitions = {
        "Status": cases("state", "Any", state_="state"),
        "state": struct(userId=INT, user_id=INT),
        "Any": struct(),
        "Answer": struct(a=INT),
        "ShipRequest": struct(b=ref("State")),
        "State": struct(c=INT),
    }
    feedbacks = [{"name": "ship", "request": ref("Answer")}, {"name": "Ship", "request": ref("ShipRequest")}]
    text = module(schema(ref("Status"), definitions=definitions, answer=INT, feedbacks=feedbacks))
    assert 'class State_2(Case, name="state"):\n    user_id: int = field(metadata={"key": "userId"})\n    user_id_2: int' in text
    assert 'class State_3(Case, name="state_"):\n' in text
    assert 'class Any_(Case, name="Any"):\n' in text
    assert "class ShipRequest_3:\n    b: State_4\n" in text
    assert text.endswith(
        "Status: TypeAlias = State_2 | Any_ | State_3\n"
        "State: TypeAlias = Status\n"
        "Answer: TypeAlias = int\n"
        "ShipRequest: TypeAlias = Answer_2\n"
        "ShipRequest_2: TypeAlias = ShipRequest_3\n"
    )


def test_the_module_reads_and_writes_what_the_loop_has(tmp_path: Path) -> None:
    data = TEXT | {"contentEncoding": "base64url"}
    tracked = {"type": "array", "x-loop": {"tracked": {"keys": INT, "values": ref("Row")}}}
    definitions = {
        "Tree": cases("leaf", "node"),
        "leaf": struct(_0=data),
        "node": struct(theLeft=ref("Tree"), size=INT, right={"anyOf": [ref("Tree"), {"type": "null"}]}),
        "Row": struct(b=INT),
        "Box<Int>": struct(trees={"type": "array", "items": ref("Tree")}, byNumber=tracked, **{'a~/"é\\': INT}),
    }
    shelves = {"type": "object", "additionalProperties": ref("Box%3CInt%3E"), "x-loop": {"keys": INT}}
    made = loaded(module(schema(shelves, ref("Tree"), definitions)), tmp_path)
    tree = {
        "node": {"theLeft": {"leaf": {"_0": b"\1"}}, "size": 2, "right": {"node": {"theLeft": {"leaf": {"_0": b""}}, "size": 1}}}
    }
    assert decode(encode(tree), made.Event) == made.Node(made.Leaf(b"\1"), 2, made.Node(made.Leaf(b""), size=1))
    state = {5: {"trees": [tree], "byNumber": [2, {"b": 1}, 1, {"b": 2}], 'a~/"é\\': 7}}
    read = decode(encode(state), made.State)
    assert list(read[5].by_number.items()) == [(2, made.Row(1)), (1, made.Row(2))]
    assert encode(read) == encode(state)
    check(*sorted(tmp_path.glob("made_*.py")))


def test_long_lines_are_broken_as_ruff_breaks_them(tmp_path: Path) -> None:
    names = [f"caseNumber{number}" for number in range(9)]
    definitions = {name * times: struct(_0=INT) for name in names for times in (1, 3)}
    definitions |= {"Wide": cases(*names, "x"), "x": struct(), "Wider": cases(*(name * 3 for name in names))}
    definitions["Long"] = struct(**{"aB" * 30: ref("Wide"), "c": ref("Wider"), "d": unknown("Type" * 60, "it reads nothing")})
    text = module(schema(ref("Long"), ref("Wide"), definitions))
    assert "Wider: TypeAlias = (\n    CaseNumber0caseNumber0caseNumber0\n    | CaseNumber1" in text
    assert "Event: TypeAlias = Wide\n" in text
    assert "Wide: TypeAlias = (\n    CaseNumber0 | CaseNumber1" in text
    loaded(text, tmp_path)
    loaded(module(schema(INT)), tmp_path)
    check(*sorted(tmp_path.glob("made_*.py")))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"type": "object"}', '{"$defs": {}, "x-loop": {}}', "é", "[" * 100_000])
def test_a_file_that_is_no_schema_of_a_loop_is_an_error(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "file.json"
    path.write_text(text, encoding="latin-1")
    assert main([str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"loop_worker.types: {path} cannot be used: ")
    assert err.count("\n") == 1


def test_wrong_usage_of_the_program_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == main(["--out"]) == main(["a", "b"]) == 64
    assert main(["/none.json"]) == 2
    assert "No such file" in capsys.readouterr().err


def test_a_reference_to_nothing_is_an_error() -> None:
    with pytest.raises(Misfit, match="it is no schema of a loop"):
        module(schema(ref("Gone")))


def test_modules_of_real_loops_pass_mypy_and_read_their_states(
    programs: Path, ledger: Reducer, start_reducer: StartReducer, tmp_path: Path
) -> None:
    def made(loop: str) -> Any:
        done = subprocess.run(
            [programs / "loop-reducer", loop, "schema", "--format", "json-schema"], stdout=subprocess.PIPE, check=True
        )
        (tmp_path / f"{loop}.json").write_bytes(done.stdout)
        words = [sys.executable, "-m", "loop_worker.types", str(tmp_path / f"{loop}.json")]
        return loaded(subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True).stdout, tmp_path)

    books, kit = made("ledger"), made("conform")
    for loop in ("linkcheck", "todo", "favourites", "sign-in", "switch", "traffic-light", "token-refresh"):
        made(loop)
    check(*sorted(tmp_path.glob("made_*.py")))

    async def run() -> None:
        async with client(ledger) as handle:
            deposit = books.Deposit(1, books.Work(milliseconds=5, failures=0))
            assert await handle.ask(deposit, books.Answer) == books.Receipt(number=1, open=1)
            state = (await handle.current_state(books.State)).value
            assert state.open == {1: books.BookRequest(deposit=1, folder="/tmp", work=deposit.work)}
        reducer = start_reducer(programs / "loop-reducer", "conform")
        async with Client("conform", reducer.address) as handle:
            await handle.send(kit.Put("b", 2))
            await handle.send(kit.Put("a", 1))
            assert list((await handle.current_state(kit.State)).value.entries.items()) == [("b", 2), ("a", 1)]
            # The schema marks what is tracked, so deltas can be followed.
            following = handle.states(kit.State, deltas=True)
            assert (await anext(following)).value.entries == {"b": 2, "a": 1}
            placed = await handle.send(kit.Put("c", 3))
            while (state := await anext(following)).seq < placed.seq:
                pass
            assert state.value.entries == {"b": 2, "a": 1, "c": 3}
            [stream] = (stream for stream in handle._streams.values() if stream.observer.fold is not None)
            assert stream.observer.divergence is None

    asyncio.run(run())


def test_nothing_is_unknown_of_the_loops_of_loop_reducer(programs: Path) -> None:
    program = str(programs / "loop-reducer")
    listed = subprocess.run([program, "--help"], capture_output=True, check=True, text=True).stdout
    loops = [line.split()[0] for line in listed.split("Loops:\n")[1].split("\n\n")[0].splitlines()]
    assert "conform" in loops
    for loop in loops:
        printed = subprocess.run([program, loop, "schema", "--format", "json-schema"], capture_output=True, check=True).stdout
        assert json.loads(printed)["x-loop"].get("notKnown") is None, loop
