"""What the report gives in numbers, from ``published.toml``."""

from reproductions.claims import Words
from reproductions.published import read

PUBLISHED = read(__file__)
claim = Words(__file__).claim
MACHINE = PUBLISHED["machine"]
KERNELS = tuple(PUBLISHED["times"]["columns"])
# By image, of each kernel.
MILLISECONDS: dict[str, list[float]] = PUBLISHED["times"]["rows"]
SHARES = PUBLISHED["profile"]["shares"]
SCANS = PUBLISHED["profile"]["scans"]
SCAN_SECONDS = PUBLISHED["profile"]["scan_seconds"]
