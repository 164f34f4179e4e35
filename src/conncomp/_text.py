"""Text for terminals."""

from __future__ import annotations


def printable(text: str) -> str:
    r"""Return `text` as one line without what would control a terminal, or that it cannot show.

    >>> print(printable("in red: \x1b[31m\nnext"))
    in red: \x1b[31m next
    """
    text = " ".join(text.split())
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
        for letter in text
    )
