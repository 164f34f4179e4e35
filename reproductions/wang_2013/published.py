"""What the report gives in numbers, from ``published.toml``."""

from reproductions.claims import Words
from reproductions.published import read
from reproductions.wang_2013.hooking import Edge

PUBLISHED = read(__file__)
claim = Words(__file__).claim
MACHINE, CPU = PUBLISHED["machine"], PUBLISHED["cpu"]
COLUMNS = PUBLISHED["charities"]["columns"]
# By graph.
CHARITIES: dict[str, list[float]] = PUBLISHED["charities"]["rows"]
WORKED_EXAMPLE = PUBLISHED["worked-example"]
EDGES: list[Edge] = [(v, w) for v, w in WORKED_EXAMPLE["edges"]]
FIRST_ROUND = WORKED_EXAMPLE["first_round"]
NEVER_MARKED: list[Edge] = [(v, w) for v, w in WORKED_EXAMPLE["never_marked_by_soman"]]
