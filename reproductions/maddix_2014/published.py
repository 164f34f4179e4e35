"""What the report gives in numbers, from ``published.toml``."""

from __future__ import annotations

from reproductions.published import read

PUBLISHED = read(__file__)
MACHINE = PUBLISHED["machine"]
KERNELS = tuple(PUBLISHED["times"]["columns"])
# By image, of each kernel.
MILLISECONDS: dict[str, list[float]] = PUBLISHED["times"]["rows"]
SHARES = PUBLISHED["profile"]["shares"]
SCANS = PUBLISHED["profile"]["scans"]
SCAN_SECONDS = PUBLISHED["profile"]["scan_seconds"]
