"""The default for large arrays on the GPU: drives ``tiled_bricks.cuh``.

Rows or bundles (`Plan.instead`) label arrays of some values faster. The host does not wait to learn
which: `fill_labels` launches all, and the GPU decides:

    `before`   sample                sets elsewhere[0] to 1 if rows or bundles label the array
               label, join, ...      skipped at 0; label of bundles sets 0 at a second value
    bricks     label, join, settle   skipped at 1
               number_words          numbers the roots of either
    `after`    write, of bundles     skipped at 0; rows have written `before`
    bricks     write                 skipped at 1
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from conncomp._arguments import INDEX_TYPES
from conncomp.kernels.cuda.core.numbering import WORD, WORDS, ByWord, chunks_of
from conncomp.kernels.cuda.grid import bundle_tiles, row_tiles, tiled_elements
from conncomp.kernels.cuda.grid.image import (
    RANKS,
    RULE_NAMES,
    VALUE_CTYPES,
    Geometry,
    Image,
    rule_of,
)
from conncomp.kernels.cuda.grid.run_tiles import words_of
from conncomp.kernels.cuda.grid.tiling import as_rows, choose_tile, count_tiles, tiling
from conncomp.kernels.cuda.launcher import (
    COUNT,
    THREADS,
    DeviceArray,
    DType,
    Gpu,
    Module,
    Templates,
    ctype,
    launch,
)
from conncomp.kernels.cuda.structs import Struct
from conncomp.kernels.cuda.workspace import Fields, Part, Workspace
from conncomp.kernels.links import Links

FILE = "cuda/grid/tiled_bricks.cuh"
JOIN_THREADS, LINK_THREADS, BRICK = 128, 128, 64
FIRST_DIGITS, PLANES = 6, 2
# The log2 of the bricks of a tile along each axis, from the last axis on, by the axes of a brick.
LOGS = {1: (7, 0, 0), 2: (4, 3, 0), 3: (4, 2, 2)}
FIXED = (2, 3)  # the ranks of arrays for which kernels have `LOGS` as constants
# The ranks of arrays whose neighbours are all in adjacent bricks, so that links can be words.
LINKED = (1, 2, 3)
# Items that fill less of their tiles than this are labelled by elements.
LEAST_FILLED = 0.25
# A block numbers the words of an item of a batch, by so many threads, if there are so many.
ITEM_THREADS, LEAST_OF_ITEM, MOST_OF_ITEM = 1024, 256, 4096
# Images that may have sparse tiles: their axes, dtype of labels, and labels written at once.
SPARSE_AXES, SPARSE_INDEX, TOGETHER = 2, np.dtype(np.int32), 4
BITS, NODE, COMPARISON, SPARSE = (np.dtype(name) for name in ("u8", "u2", "u1", "u1"))


class _Names(NamedTuple):
    """Template arguments, as C++ code."""

    links: str  # a rule, which compares values, or ``GivenLinks``, words of links
    tiles: str
    label: str
    elsewhere: str = ""  # or `ELSEWHERE`: the last argument of all kernels
    joined: str = ""  # likewise, of those that join


ELSEWHERE = ", true"


def _named(links: str, rank: int, logs: Any, items: bool, index: DType, elsewhere: bool) -> _Names:
    """Return the names for tiles of constant `logs`, or of any (None)."""
    log = f"GivenLogs<{str(items).lower()}>"
    if logs is not None:
        log = f"FixedLogs<{', '.join(map(str, logs))}>"
    in_all, joined = ELSEWHERE * elsewhere, ELSEWHERE * (elsewhere and rank == bundle_tiles.AXES)
    tiles = f"conncomp::BrickTiles<{rank}, conncomp::{log}>"
    return _Names(links, tiles, ctype(index), in_all, joined)


def _every(links: Sequence[str], ranks: Sequence[int], elsewhere: bool = False) -> list[_Names]:
    """Return the template arguments of all tiles that are compiled for links and ranks."""
    tiles: list[Any] = [(rank, LOGS[rank], False) for rank in ranks if rank in FIXED]
    tiles += [(rank, None, items) for rank in ranks for items in (False, True) if not elsewhere]
    every: Any = product(links, tiles, (SPARSE_INDEX,) if elsewhere else INDEX_TYPES)
    return [
        _named(name, rank, logs, items, index, elsewhere)
        for name, (rank, logs, items), index in every
    ]


_EQUAL = tuple(f"conncomp::Equal<{value}>" for value in VALUE_CTYPES.values())
_ABOVE = "conncomp::Above<float>", "conncomp::Above<double>"
_BY_VALUE = (
    *_every(_EQUAL, (1, *RANKS)),
    *_every(_ABOVE, FIXED),
    *_every(_EQUAL, (SPARSE_AXES,), elsewhere=True),
    *_every(_EQUAL[:1], (bundle_tiles.AXES,), elsewhere=True),
)
# By the number of axes that a step moves along: one (links of rows only), or up to three.
_GIVEN_LINKS = {axes: f"conncomp::GivenLinks<{axes}>" for axes in (1, 3)}
GIVEN = {axes: _every([links], LINKED[axes > 1 :]) for axes, links in _GIVEN_LINKS.items()}
_ALL = *_BY_VALUE, *GIVEN[1], *GIVEN[3]


def _templates(kinds: Sequence[_Names], *names: str, **choices: Any) -> Templates:
    return Templates(FILE, *names, **choices, kind=kinds)


_LABEL = _templates(_ALL, "label_tiles<{kind.links}, {kind.tiles}, {kind.label}{kind.elsewhere}>")
_JOIN = _templates(_BY_VALUE, "join_tiles<{kind.links}, {kind.tiles}, {kind.label}{kind.joined}>")
_LINK = _templates(
    (*GIVEN[1], *GIVEN[3]),
    "join_links<{kind.links}, {kind.tiles}, {kind.label}>",
    "link_bricks<{rule}, {kind.tiles}, {kind.label}>",
    rule=RULE_NAMES,
)
_ROOTS, _NUMBERS = (
    f"write_labels<{{kind.links}}, {consecutive}, {{kind.tiles}}, {{kind.label}}{{kind.elsewhere}}>"
    for consecutive in ("false", "true")
)
# By whether labels are consecutive, and whether a block numbers each item.
_WRITE = {
    (False, False): _templates(_ALL, _ROOTS),
    (True, False): _templates(
        [kind for kind in _ALL if not kind.elsewhere or kind.joined],
        _NUMBERS,
        *("settle_roots<{kind.tiles}, {kind.label}>", "gather_roots<{kind.tiles}, {kind.label}>"),
        "number_words<{kind.label}>",
    ),
    (True, True): _templates(
        [kind for kind in _ALL if "GivenLogs<true>" in kind.tiles],
        _NUMBERS,
        "number_items<{kind.tiles}, {kind.label}>",
    ),
}

TABLE = Struct(
    "BrickTable",
    "foreground links settled roots planes comparison frame first_digit sparse elsewhere "
    "components",
    ("bricks", COUNT),
)


def takes(gpu: Gpu, image: Image, index: DType, consecutive: bool) -> bool:
    """Whether bricks suit an array best."""
    large = image.size > tiled_elements.MOST * gpu.multiprocessors
    return large and can_label(image.geometry, image.links)


@lru_cache(maxsize=1024)
def can_label(geometry: Geometry, links: Links) -> bool:
    """Whether `fill_labels` can label an array, and its items fill their tiles well enough."""
    geometry = as_rows(geometry)
    if not _by_value(geometry, links) and len(geometry.shape) not in LINKED:
        return False
    if geometry.items == 1:
        return True
    logs = _choose_logs(geometry, 1)
    elements = count_tiles(geometry.shape, _brick_log(geometry), logs) * BRICK << sum(logs)
    return geometry.item_size >= LEAST_FILLED * elements


def fill_labels(
    gpu: Gpu, image: Image, labels: DeviceArray, workspace: Workspace, consecutive: bool
) -> DeviceArray:
    """Fill `labels` with roots, or with consecutive labels; return the numbers of components.

    Consecutive labels number the components of each item from 1, background 0; roots are the
    smallest index of a component in its item, background -1. `labels` are C-contiguous; the numbers
    are int64, (items,), in `workspace`.
    """
    plan = plan_of(image.geometry, image.links, labels.dtype, gpu.multiprocessors, consecutive)
    gpu.load_at_once(plan.modules)
    (label,), (join, *links), (write, *number), *_ = (gpu.load(*each) for each in plan.modules)
    placed = workspace.take_struct(gpu, TABLE, plan.table, plan.by_word)
    table = placed.struct
    roots, numbers, in_chunk = ByWord.of(placed) if consecutive else ByWord()
    tiles, values = plan.tiles, image.values
    for link in links:
        launch(link, gpu.grid(plan.bricks, LINK_THREADS), tiles, image.rule, values, table)
    if plan.instead:
        plan.instead.before(gpu, image, labels, placed)
    launch(label, plan.by_tile, tiles, plan.rule, values, labels, table, shared=plan.shared)
    if plan.joins:
        launch(join, plan.by_border, tiles, plan.tile_count, plan.border, values, labels, table)
    words, columns = plan.words, plan.columns
    if plan.words_of_item:
        (number_items,) = number
        by_item = image.geometry.items, ITEM_THREADS
        lengths = np.int32(plan.words_of_item), np.int32(columns)
        launch(number_items, by_item, tiles, labels, *lengths, table, roots, numbers)
    elif consecutive:
        settle, gather, assign = number
        chunk, chunks = plan.chunked
        by_chunk = min(chunks, gpu.resident_threads), THREADS
        launch(settle, gpu.grid(plan.bricks), tiles, labels, table)
        launch(gather, by_chunk, tiles, words, columns, chunk, table, roots, in_chunk)
        launch(assign, by_chunk, words, chunk, roots, in_chunk, numbers)
    if plan.instead:
        plan.instead.after(gpu, labels, placed)
    launch(write, plan.by_tile, tiles, values, labels, table, columns, roots, numbers)
    return placed["components"]


class Plan(NamedTuple):
    """The choices of `fill_labels` for all arrays of one kind."""

    kind: _Names  # the template arguments
    modules: tuple[Module, ...]  # kernels that label tiles, join, and write, and those of `instead`
    instead: row_tiles.RowPlan | bundle_tiles.BundlePlan | None
    rule: Any  # ``Equal<T>``, or 0 for ``GivenLinks``
    tiles: Any
    bricks: int  # of all tiles
    words: int  # of the array
    columns: int  # words of a row
    words_of_item: int  # if a block numbers each item, else 0
    chunked: tuple[int, int]  # how many words' roots are counted together; how many such chunks
    by_tile: tuple[int, int]
    by_border: tuple[int, int]
    joins: bool  # whether elements of different tiles, or at the ends of an axis, are neighbours
    tile_count: int
    border: int  # the bricks at the border of a tile
    shared: int  # bytes of a block
    table: Fields
    by_word: dict[str, Part]  # further parts: those of `ByWord`, and of `instead`


def _may_be_sparse(geometry: Geometry, links: Links, index: DType) -> bool:
    """Whether tiles of an array, cut as usual, may be labelled as sparse ones, by roots."""
    return (
        len(geometry.shape) == SPARSE_AXES
        and links.rule == "equal"
        and geometry.connectivity is not None
        and index == SPARSE_INDEX
        and geometry.shape[-1] % TOGETHER == 0
    )


@lru_cache(maxsize=1024)
def plan_of(
    geometry: Geometry, links: Links, index: DType, multiprocessors: int, consecutive: bool
) -> Plan:
    """Return how `fill_labels` labels arrays of a kind."""
    geometry = as_rows(geometry)
    shape, items = geometry.shape, geometry.items
    rank, by_value = len(shape), _by_value(geometry, links)
    logs = _choose_logs(geometry, 2 * multiprocessors)
    fixed = rank in FIXED and logs == LOGS[rank] and items == 1
    tiles = items * count_tiles(shape, _brick_log(geometry), logs)
    of_tile, border = 1 << sum(logs), _count_at_border(rank, logs)
    bricks, of_item = tiles * of_tile, words_of(shape)
    words = items * of_item
    by_item = consecutive and items > 1 and LEAST_OF_ITEM <= of_item <= MOST_OF_ITEM
    chunked = chunks_of(words)
    sparse = fixed and not consecutive and _may_be_sparse(geometry, links, index)
    plan_instead = row_tiles.plan_of if sparse else bundle_tiles.plan_of
    instead = plan_instead(geometry, links, index, consecutive) if fixed else None
    table: Fields = {
        "foreground": (bricks, BITS),
        "links": None if by_value else (bricks * len(geometry.steps.backward), BITS),
        "settled": (bricks, BITS),
        "roots": (bricks, BITS) if consecutive else None,
        "planes": (PLANES * bricks, BITS) if by_value and links.rule == "equal" else None,
        "comparison": (tiles, COMPARISON),
        "frame": (2 * tiles, np.dtype(links.value_type)) if by_value else None,
        "first_digit": None if by_value else (bricks * FIRST_DIGITS, BITS),
        "sparse": (tiles, SPARSE) if sparse else None,
        "elsewhere": instead.choice if instead else None,
        "components": (items, COUNT),
        "bricks": bricks,
    }
    rule = rule_of(links)
    compared = rule.name if by_value else _GIVEN_LINKS[1 if geometry.steps.most_moves <= 1 else 3]
    constant, elsewhere = logs if fixed else None, sparse or instead is not None
    kind = _named(compared, rank, constant, items > 1, index, elsewhere)
    # Few blocks loop over the tiles of volumes where `instead` may leave them nothing to do.
    most = multiprocessors if instead and not sparse else tiles
    joining = min(-(-tiles * border // JOIN_THREADS), bundle_tiles.JOINING * most)
    by_word = ByWord((words, WORDS), (words, index), (chunked[1], COUNT))._asdict()
    return Plan(
        kind=kind,
        modules=(
            _LABEL.module(kind),
            _JOIN.module(kind) if by_value else _LINK.module(rule.name, kind),
            _WRITE[consecutive, by_item].module(kind),
            *((instead.module,) if instead else ()),
        ),
        instead=instead,
        rule=rule.struct if by_value else np.uint8(0),
        tiles=tiling(geometry, logs),
        bricks=bricks,
        words=words,
        columns=-(-shape[-1] // WORD),
        words_of_item=of_item if by_item else 0,
        chunked=chunked,
        by_tile=(min(tiles, bundle_tiles.BLOCKS * most), of_tile),
        by_border=(joining, JOIN_THREADS),
        joins=tiles > items or any(geometry.steps.periodic),
        tile_count=tiles,
        border=border,
        shared=0 if sparse else of_tile * BRICK * NODE.itemsize,
        table=table,
        by_word=(by_word if consecutive else {}) | (instead.parts if instead else {}),
    )


def _by_value(geometry: Geometry, links: Links) -> bool:
    """Whether foreground can be compared by value, without links as words."""
    return links.transitive and geometry.connectivity is not None


def _brick_log(geometry: Geometry) -> int:
    return 6 // min(len(geometry.shape), 3)


def _choose_logs(geometry: Geometry, tiles: int) -> tuple[int, ...]:
    """Return the log2 of a tile's bricks along each axis, for `tiles` or more if possible."""
    usual = LOGS[min(len(geometry.shape), 3)]
    return choose_tile(geometry.shape, _brick_log(geometry), usual, -(-tiles // geometry.items))


def _count_at_border(rank: int, logs: tuple[int, ...]) -> int:
    """Return how many bricks of a tile `brick_to_join` numbers."""
    width, height, depth = (1 << log for log in logs)
    beside = 1 if width == 1 else 2
    if rank == 1:
        return 1
    if rank == 2:
        return width + (height - 1) * beside
    if rank == 3:
        of_plane = width if height == 1 else 2 * width + (height - 2) * beside
        return width * height + (depth - 1) * of_plane
    return width * height * depth
