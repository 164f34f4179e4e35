"""Images that commands read."""

from __future__ import annotations

import warnings
from pathlib import Path

from conncomp.files.images import Content, read_channels


def read_quietly(path: Path, key: str | None = None) -> Content:
    """Read as `read_channels` does, without what libraries say of files that they could read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read_channels(path, key=key)
