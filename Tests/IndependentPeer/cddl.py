"""Compares documents with docs/spec/loop.cddl: the part of RFC 8610 that the file uses."""

import re

TOKEN = re.compile(r'"[^"]*"|[A-Za-z_][\w-]*|//|=>|\.size|[=:/{}\[\]()?*,]|\d+')
PLAIN = {"tstr": str, "bstr": bytes, "int": int, "uint": int, "float": float, "bool": bool}


class Rules:
    """The rules of a file by name. A type is a tuple of its kind and its parts."""

    def __init__(self, text: str):
        self.tokens = TOKEN.findall(re.sub(r";.*", "", text))
        self.at = 0
        self.rules = {}
        while self.at < len(self.tokens):
            name, equals = self.next(), self.next()
            assert equals == "=", f"{name} {equals}"
            self.rules[name] = self.type()

    def peek(self) -> str | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def next(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1]

    def type(self):
        choices = [self.single()]
        while self.peek() == "/":
            self.next()
            choices.append(self.single())
        return choices[0] if len(choices) == 1 else ("either", choices)

    def single(self):
        token = self.next()
        if token in "{[(":
            return {"{": "map", "[": "array", "(": "group"}[token], self.group({"{": "}", "[": "]", "(": ")"}[token])
        if token[0] == '"':
            return "text", token[1:-1]
        if self.peek() == ".size":
            self.next()
            return "sized", token, int(self.next())
        return "name", token

    def group(self, end: str) -> list:
        """Choices of members; a member is its occurrence, its key (text, a type in a tuple, or none), and its type."""
        choices = [[]]
        while (token := self.next()) != end:
            if token == "//":
                choices.append([])
            elif token != ",":
                occurrence = token if token in "?*" else ""
                if occurrence:
                    token = self.next()
                key = None
                if self.peek() in (":", "=>"):
                    key = token.strip('"') if self.next() == ":" else ("name", token)
                else:
                    self.at -= 1
                choices[-1].append((occurrence, key, self.type()))
        return choices

    def flaw(self, type, value, path: str = "") -> str | None:
        """What is wrong with a value, or nothing. A key that only `* tstr => any` allows is wrong: the file does not describe it."""
        match type:
            case "name", name if name in self.rules:
                return self.flaw(self.rules[name], value, path)
            case ("name", name) | ("sized", name, _):
                is_one = isinstance(value, PLAIN[name]) and isinstance(value, bool) == (name == "bool")
                if not is_one or (name == "uint" and not 0 <= value < 256 ** (type[2] if len(type) > 2 else 8)):
                    return f"{path} is {value!r}, no {name}"
            case "text", text:
                return None if value == text else f"{path} is {value!r}, not {text!r}"
            case "either", choices:
                flaws = [self.flaw(one, value, path) for one in choices]
                return None if None in flaws else flaws[-1]
            case "array", [[(_, _, item)]]:
                if not isinstance(value, list):
                    return f"{path} is {value!r}, no array"
                return next(filter(None, (self.flaw(item, one, f"{path}[{at}]") for at, one in enumerate(value))), None)
            case "map", choices:
                if not isinstance(value, dict):
                    return f"{path} is {value!r}, no map"
                flaws = [self.members(one, value, path) for one in choices]
                # Of a case, that of the members with its name says most.
                named = [flaw for one, flaw in zip(choices, flaws) if one and one[0][1] in value]
                return None if None in flaws else (named or flaws)[0]
        return None

    def members(self, members: list, value: dict, path: str) -> str | None:
        left = dict(value)
        for occurrence, key, type in members:
            if isinstance(key, str):
                if key not in left and not occurrence:
                    return f"{path} lacks {key}"
                if key in left and (flaw := self.flaw(type, left.pop(key), f"{path}.{key}")):
                    return flaw
            elif isinstance(key, tuple):
                flaw = next(filter(None, (self.flaw(type, one, f"{path}.{name}") for name, one in left.items())), None)
                if flaw:
                    return flaw
                left = {}
        return f"{path} has {sorted(left)}, which the file does not describe" if left else None
