"""Reads a page of `write_view` as a browser does, and the data in it."""

import base64
import json
import zlib

import numpy as np

from html_page import Page


class ViewPage(Page):
    """A page, by its path."""

    def __init__(self, path):
        self.source = path.read_text(encoding="utf-8")
        super().__init__(self.source)

    @property
    def about(self):
        return json.loads(self.texts["about"])

    def unpacked(self, name, dtype):
        return np.frombuffer(zlib.decompress(base64.b64decode(self.texts[name])), dtype)

    def volume(self, name="rows"):
        """Undo the differences of rows, one row after another."""
        about = self.about
        image = name == "image"
        dtype = np.uint8 if image else f"<u{about['bytes']}"
        length = about["shape"][2] * (about["channels"] if image else 1)
        table = self.unpacked(name, dtype).reshape(-1, length).copy()
        for row in range(1, len(table)):
            table[row] += table[row - 1]
        channels = (3,) if image and about["channels"] == 3 else ()
        return table.reshape(*about["shape"], *channels)

    def column(self, name, *shape):
        return self.unpacked(name, "<f8").reshape(self.about["components"], *shape)

    def labels(self, background=0):
        """Return the labels that are shown, in a shape of three lengths."""
        return np.append(background, self.column("labels"))[self.volume()]
