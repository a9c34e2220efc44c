"""Writes cbor-cbor2.txt: random values as the Python package cbor2 encodes them.

Run with any cbor2 (`pip install cbor2`, or python3-cbor2 of Debian), from anywhere:

    python3 Tests/CBORTests/Vectors/cbor-cbor2.py

cbor2 sorts keys by length and then by bytes (RFC 7049), and we by bytes (RFC 8949, section 4.2.1). The two orders are the
same where all keys of a map are of one type, so each map here has keys of one type.
"""

import json
import math
import pathlib
import random
import struct

import cbor2

VALUES = 400


def number(dice):
    magnitude = dice.getrandbits(dice.choice([1, 4, 5, 6, 8, 9, 16, 17, 32, 33, 63]))
    if dice.randrange(2):
        return -1 - magnitude
    return dice.choice([magnitude, magnitude, 2**64 - 1 - magnitude])


def real(dice):
    form, bits = dice.choice([("e", 16), ("f", 32), ("d", 64)])
    value = struct.unpack(">" + form, dice.getrandbits(bits).to_bytes(bits // 8, "big"))[0]
    return dice.choice([value, float(dice.randrange(-100000, 100000)), dice.randrange(-999, 999) / 8, 1 / dice.randrange(1, 99)])


def string(dice):
    letters = dice.choice(["ab", "az09 _-", 'a"\\\n\t\r\x01\x7f/', "aé水𐅑😀\u200d"])
    return "".join(dice.choice(letters) for _ in range(length(dice)))


def length(dice):
    return dice.choice([0, 1, 2, 3, 5, 8, 8, 22, 23, 24, 25, 30]) if dice.randrange(60) else dice.choice([255, 256, 300])


def value(dice, depth=0):
    kind = dice.randrange(8 if depth < 5 else 6)
    if kind == 0:
        return dice.choice([None, True, False])
    if kind in (1, 2):
        return number(dice)
    if kind == 3:
        return real(dice)
    if kind == 4:
        return string(dice)
    if kind == 5:
        return dice.randbytes(length(dice))
    count = dice.choice([0, 1, 2, 3, 4, 6, 24 if depth == 0 else 5])
    if kind == 6:
        return [value(dice, depth + 1) for _ in range(count)]
    key = dice.choice([string, string, string, lambda dice: abs(number(dice)), lambda dice: dice.randbytes(length(dice) % 9)])
    return {key(dice): value(dice, depth + 1) for _ in range(count)}


def float_text(value):
    """In the shortest digits, as the examples of RFC 8949 are written: always a fraction, no zeros before an exponent."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    # Python begins to write exponents at 1e16, and the notation that we print at 2^54.
    mantissa, _, exponent = repr(value).partition("e")
    if not exponent and abs(value) >= 2**54:
        mantissa, _, exponent = f"{value:.15e}".partition("e")
        mantissa = mantissa.rstrip("0") + ("0" if mantissa.rstrip("0").endswith(".") else "")
    if "." not in mantissa:
        mantissa += ".0"
    return mantissa + (f"e{exponent[0]}{exponent[1:].lstrip('0')}" if exponent else "")


def notation(item):
    """The diagnostic notation of RFC 8949, section 8."""
    if item is None:
        return "null"
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, int):
        return str(item)
    if isinstance(item, float):
        return float_text(item)
    if isinstance(item, bytes):
        return f"h'{item.hex()}'"
    if isinstance(item, str):
        return json.dumps(item, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(item, list):
        return "[" + ", ".join(map(notation, item)) + "]"
    keys = sorted(item, key=lambda key: cbor2.dumps(key, canonical=True))
    return "{" + ", ".join(f"{notation(key)}: {notation(item[key])}" for key in keys) + "}"


def main():
    dice = random.Random(24)
    lines = {}
    while len(lines) < VALUES:
        item = value(dice)
        encoded = cbor2.dumps(item, canonical=True)
        if len(encoded) <= 400:
            lines[encoded] = f"{encoded.hex()} | yes | {notation(item)}"
    head = [
        "# Random values as cbor2, an independent coder for Python, encodes them with canonical=True; see cbor-cbor2.py.",
        "# hex | yes: the deterministic encoder gives these bytes | diagnostic notation",
    ]
    path = pathlib.Path(__file__).with_name("cbor-cbor2.txt")
    path.write_text("\n".join(head + list(lines.values())) + "\n", encoding="utf-8")


main()
