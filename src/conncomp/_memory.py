"""How much memory the machine has."""

from __future__ import annotations

import os


def total_memory() -> int:
    """Return how many bytes of memory the machine has; 0 if nobody knows."""
    return memory_of_pages("SC_PHYS_PAGES") or 0


def memory_of_pages(pages: str) -> int | None:
    """Return how many bytes the pages of a kind have; None if nobody knows."""
    try:
        return os.sysconf(pages) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # not on this system
        return None
