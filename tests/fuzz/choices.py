"""Decisions read from bytes, so that calls are mutated, saved and minimised as files are."""

import zlib

import numpy as np


class Choices:
    """Reads one decision after the other; when the bytes are spent, each is the first possible."""

    def __init__(self, data):
        self._data = data
        self._at = 0

    def below(self, count):
        byte = self._data[self._at : self._at + 1]
        self._at += 1
        return int.from_bytes(byte) % count

    def flag(self):
        return bool(self.below(2))

    def pick(self, options):
        return options[self.below(len(options))]

    def generator(self):
        """Return random numbers that depend on the next four bytes."""
        seed = self._data[self._at : self._at + 4]
        self._at += 4
        return np.random.default_rng(zlib.crc32(seed))

    def remaining(self):
        return self._data[self._at :]
