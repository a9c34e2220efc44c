"""Prints the types of a loop as a Python module: `python -m loop_worker.types schema.json > orders.py`.

The file is what `loopctl schema --format json-schema` prints. The module has classes that `encode` and `decode` take. `Event`,
`State`, `Answer` and a request for each feedback, such as `ShipRequest`, are names for those that the loop uses there.
"""

from __future__ import annotations

import json
import keyword
import re
import sys
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from .errors import Misfit

_WIDTH = 132
_SCALARS = {"integer": "int", "boolean": "bool", "number": "float"}
_IMPORTS = {"dataclass": "dataclasses", "field": "dataclasses", "Enum": "enum", "Annotated": "typing", "Any": "typing"}
_IMPORTS |= {"TypeAlias": "typing", "Case": "loop_worker", "Tracked": "loop_worker"}
_HIDING = {"bool", "bytes", "case_name", "dict", "field", "float", "int", "list", "self", "str"}
"""What the fields after a field of this name could not use any more."""


def module(schema: Any) -> str:
    """The module of a schema. Raises `Misfit` if it is no schema of a loop."""
    try:
        return _Module(schema).text()
    except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError):
        raise Misfit("it is no schema of a loop; give what loopctl schema --format json-schema prints") from None


def _take(name: str, taken: set[str]) -> str:
    """The name, with a number if it is taken. It is taken from now on."""
    free, number = name, 1
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    taken.add(free)
    return free


def _class_name(text: str) -> str:
    name = "".join(word[:1].upper() + word[1:] for word in re.findall("[A-Za-z0-9]+", text))
    name = name if name.isidentifier() else f"Type{name}"
    return f"{name}_" if keyword.iskeyword(name) or name in _IMPORTS else name


def _field_name(key: str) -> str:
    words = re.findall("[a-z0-9]+", re.sub("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", key).lower())
    name = key if re.fullmatch("_[0-9]+", key) else "_".join(words)
    name = name if name.isidentifier() else f"value{name}"
    return f"{name}_" if keyword.iskeyword(name) or name in _HIDING else name


def _literal(value: Any) -> str:
    return ascii(value) if not isinstance(value, str) or '"' in value else f'"{ascii(value)[1:-1]}"'


def _comment(notes: Iterable[str], indent: str = "") -> str:
    return "".join(f"{indent}# {line}\n" for line in textwrap.wrap(ascii(" ".join(notes))[1:-1], 120))


def _key(reference: dict[str, Any]) -> str:
    return unquote(reference["$ref"].removeprefix("#/$defs/")).replace("~1", "/").replace("~0", "~")


class _Module:
    def __init__(self, schema: Any) -> None:
        self.definitions: dict[str, Any] = schema["$defs"]
        facts = schema["x-loop"]
        self.title = f"Types of the loop {facts['loop']}, schema {facts['schema']}, made by python -m loop_worker.types."
        self.roles = {role: facts[role.lower()] for role in ("Event", "State", "Answer") if role.lower() in facts}
        self.taken = set(self.roles)
        for feedback in facts["feedbacks"]:
            role = _take(_class_name(f"{feedback['name']}-request"), self.taken)
            self.roles[role] = feedback.get("request", {"x-loop": {"type": "request", "notKnown": "the loop does not say"}})
        self.names: dict[tuple[str, str | None], str] = {}
        self.used: set[str] = set()
        self.classes: list[str] = []
        self.aliases: list[str] = []

    def text(self) -> str:
        for role, schema in self.roles.items():
            notes: list[str] = []
            hint = self.hint(schema, notes)
            if hint != role:
                self.add_alias(role, [hint], notes)
        imports = ""
        for source in ("dataclasses", "enum", "typing", "loop_worker"):
            names = ", ".join(sorted(name for name in self.used if _IMPORTS[name] == source))
            imports += "\n" * (source == "loop_worker") + f"from {source} import {names}\n" if names else ""
        head = f"{_comment([self.title])}\nfrom __future__ import annotations\n\n{imports}"
        return "\n\n".join([head, *self.classes]) + "\n" * (2 if self.classes else 1) + "".join(self.aliases)

    def use(self, name: str) -> str:
        self.used.add(name)
        return name

    def unknown(self, why: str, notes: list[str]) -> str:
        notes.append(f"Not known: {why}.")
        return self.use("Any")

    def hint(self, schema: dict[str, Any], notes: list[str]) -> str:
        """The type of a place. What is not known is noted."""
        facts, kind = schema.get("x-loop", {}), schema.get("type")
        if "$ref" in schema:
            return self.name(_key(schema))
        if "anyOf" in schema:
            return f"{self.hint(schema['anyOf'][0], notes)} | None"
        if kind == "array":
            if "tracked" in facts:
                key, value = (self.hint(facts["tracked"][part], notes) for part in ("keys", "values"))
                return f"{self.use('Annotated')}[dict[{key}, {value}], {self.use('Tracked')}]"
            return f"list[{self.hint(schema['items'], notes)}]"
        if kind == "object":
            key = self.hint(facts["keys"], notes) if "keys" in facts else "str"
            return f"dict[{key}, {self.hint(schema['additionalProperties'], notes)}]"
        if kind == "string":
            return "bytes" if "contentEncoding" in schema else "str"
        return _SCALARS[kind] if kind else self.unknown(f"{facts['type']}, {facts['notKnown']}", notes)

    def name(self, key: str, case: str | None = None) -> str:
        """The name of a definition, as a type or as the case of this name. It is defined when it is first met."""
        if (key, case) not in self.names:
            name = _class_name(key if case is None else case)
            is_role = case is None and self.roles.get(name) == {"$ref": f"#/$defs/{key}"}
            self.names[key, case] = name if is_role else _take(name, self.taken)
            self.define(self.names[key, case], self.definitions[key], case)
        return self.names[key, case]

    def define(self, name: str, schema: dict[str, Any], case: str | None) -> None:
        is_complete = schema.get("x-loop", {}).get("isComplete", True)
        if "oneOf" in schema:
            self.add_union(name, schema["oneOf"], is_complete)
        elif "enum" in schema:
            taken: set[str] = set()
            lines = [f"    {_take(_field_name(str(one)).upper(), taken)} = {_literal(one)}\n" for one in schema["enum"]]
            self.classes.append(f"class {name}({self.use('Enum')}):\n{''.join(lines)}")
        elif case is None and not is_complete and "properties" not in schema:
            self.add_alias(name, [self.use("Any")], ["None of its keys is known."])
        else:
            head = f"@{self.use('dataclass')}(frozen=True)\nclass {name}" if case is None else f"class {name}({self.use('Case')})"
            if case is not None and name[:1].lower() + name[1:] != case:
                head = f"class {name}(Case, name={_literal(case)})"
            more = "" if is_complete else _comment(["It may have more keys, which are not read."], "    ")
            fields = self.fields(schema.get("properties", {}), schema.get("required", []))
            self.classes.append(f"{head}:\n{more}{fields or '    pass' + chr(10)}")

    def add_union(self, name: str, alternatives: list[dict[str, Any]], is_complete: bool) -> None:
        members: list[str] = []
        notes: list[str] = []
        for alternative in alternatives:
            ((case, payload),) = alternative["properties"].items()
            if "$ref" in payload and self.definitions[_key(payload)].get("type") == "object":
                members.append(self.name(_key(payload), case))
            else:
                members.append(f"dict[str, {self.unknown(f'a class for {case}, because its value has no keys', notes)}]")
        if not is_complete:
            notes.append("It may have more cases." if members else "None of its cases is known.")
            members.append(self.use("Any"))
        self.add_alias(name, list(dict.fromkeys(members)), notes)

    def add_alias(self, name: str, members: list[str], notes: list[str]) -> None:
        head, one = f"{name}: {self.use('TypeAlias')} = ", " | ".join(members)
        if len(head + one) > _WIDTH and len(members) > 1:
            one = "(\n    " + (one if len(one) + 4 <= _WIDTH else "\n    | ".join(members)) + "\n)"
        self.aliases.append(f"{_comment(notes)}{head}{one}\n")

    def fields(self, properties: dict[str, Any], required: list[str]) -> str:
        """The lines of fields. Those with a default are last."""
        lines: dict[bool, list[str]] = {False: [], True: []}
        taken: set[str] = set()
        for key, schema in properties.items():
            notes: list[str] = []
            hint = self.hint(schema, notes)
            hint += " | None" if key not in required and not hint.endswith(" | None") else ""
            is_optional, name = hint.endswith(" | None"), _take(_field_name(key), taken)
            line = f"    {name}: {hint}"
            if (name if name.startswith("_") else name.rstrip("_")) != key:
                given = ("default=None, " if is_optional else "") + f'metadata={{"key": {_literal(key)}}}'
                call = f" = {self.use('field')}({given})"
                line += call if len(line + call) <= _WIDTH else f" = field(\n        {given}\n    )"
            elif is_optional:
                line += " = None"
            lines[is_optional].append(f"{_comment(notes, '    ')}{line}\n")
        return "".join(lines[False] + lines[True])


def main(arguments: Sequence[str]) -> int:
    """Prints the module, and returns the exit code: 0; 2 if the file has no schema; 64 for wrong usage."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print("loop_worker.types: give one file, with what loopctl schema --format json-schema prints", file=sys.stderr)
        return 64
    try:
        print(module(json.loads(Path(arguments[0]).read_bytes())), end="")
    except (OSError, ValueError, RecursionError, Misfit) as error:
        print(f"loop_worker.types: {arguments[0]} cannot be used: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
