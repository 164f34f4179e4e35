"""Mutators: small changes to bytes that tend to upset readers."""

import re
import struct

EXTREMES = [0, 1, -1, 2**7, 2**8 - 1, 2**15, 2**16 - 1, 2**31 - 1, -(2**31), 2**32 - 1, 2**63 - 1]
NUMBERS = [b"0", b"-1", b"007", b"1e9", b"nan", b"inf", b"67108863", b"2147483647", b"4294967296"]
NUMBERS += [b"9223372036854775807", b"18446744073709551616", b"9" * 300, b"1." + b"3" * 400]
WORDS = [b"\r", b"\n", b"\r\n", b"\0", b"%", b"#", b"p sp ", b"a ", b"e ", b"\x1f\x8b", b"BZh9"]
WORDS += [
    b"%%MatrixMarket matrix coordinate pattern symmetric\n",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b",",
]
WORDS += [
    b"%!PS-Adobe-3.0 EPSF-3.0\n",
    b"II*\0",
    b"MM\0*",
    b"\x89PNG\r\n\x1a\n",
    b"GIF89a",
    b"PK\x03\x04",
]


def mutate(random, data, pool):
    """Return `data` after one to four changes; `pool` has other cases to take parts from."""
    for _ in range(random.randint(1, 4)):
        data = random.choice(MUTATORS)(random, data, pool)
    return data[:LONGEST]


# A case that grows beyond this tests patience only.
LONGEST = 1 << 16


def flip_bits(random, data, pool):
    changed = bytearray(data)
    for _ in range(random.randint(1, 8) if changed else 0):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def splice(random, data, pool):
    other = random.choice(pool)
    return data[: _cut(random, data)] + other[_cut(random, other) :]


def truncate(random, data, pool):
    return data[: _cut(random, data)]


def repeat_block(random, data, pool):
    begin, end = sorted((_cut(random, data), _cut(random, data)))
    return data[:end] + data[begin:end] * random.choice([1, 2, 50]) + data[end:]


def remove_block(random, data, pool):
    begin, end = sorted((_cut(random, data), _cut(random, data)))
    return data[:begin] + data[end:]


def set_field(random, data, pool):
    """Overwrite a binary integer by an extreme one."""
    size = random.choice([1, 2, 4, 8])
    value = random.choice(EXTREMES) % 2 ** (8 * size)
    order = random.choice("<>")
    field = struct.pack(order + {1: "B", 2: "H", 4: "I", 8: "Q"}[size], value)
    at = _cut(random, data)
    return data[:at] + field + data[at + size :]


def set_number(random, data, pool):
    """Overwrite a number in text by an extreme one."""
    numbers = list(re.finditer(rb"-?\d+", data[:4096]))
    if not numbers:
        return data
    number = random.choice(numbers)
    return data[: number.start()] + random.choice(NUMBERS) + data[number.end() :]


def insert_word(random, data, pool):
    at = _cut(random, data)
    return data[:at] + random.choice(WORDS) + data[at:]


def _cut(random, data):
    """Return a place in `data`, often near its begin, where headers are."""
    end = len(data) if random.random() < 0.5 else min(len(data), 64)
    return random.randint(0, end)


MUTATORS = [
    flip_bits,
    splice,
    truncate,
    repeat_block,
    remove_block,
    set_field,
    set_number,
    insert_word,
]
