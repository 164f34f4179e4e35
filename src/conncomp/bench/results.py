"""Result files: what was measured, where, and how often; read with every field checked.

A file is one JSON object, a `Result` by its ``kind``. Unknown fields are ignored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar

import msgspec
import numpy as np
from msgspec import Meta

from conncomp.files.access import StrPath, atomic_path, naming

FORMAT, VERSION = "conncomp-bench", 1

# Limits of a file. The largest suites need a hundredth of them.
LARGEST_FILE = 1 << 24
MOST_ROWS, MOST_RUNS = 2000, 100
LONGEST_REASON = 300  # of an error that may quote the file

# A single line without control characters, so that it can be shown on a terminal as it is.
Text = Annotated[str, Meta(max_length=1000, pattern=r"\A[^\x00-\x1f\x7f-\x9f]*\Z")]
Name = Annotated[Text, Meta(min_length=1)]
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Threads = Annotated[int, Meta(ge=1, le=1 << 20)]
# Finite and far from the ends of what a float holds, so that no ratio of two overflows.
Seconds = Annotated[float, Meta(ge=1e-12, le=1e12)]
Rate = Annotated[float, Meta(ge=1e-3, le=1e18)]


class Gpu(msgspec.Struct, frozen=True, kw_only=True):
    """The GPU that was measured on."""

    name: Text
    memory_bytes: Count
    driver: Text  # the newest CUDA that it knows
    runtime: Text  # the CUDA that was used


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """The machine that was measured on."""

    cpu: Text
    cores: Count
    memory_bytes: Count
    system: Text
    gpu: Gpu | None = None


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One program on one input, timed if it is 'ok'."""

    name: Name
    kind: Literal["ours", "peer"]
    threads: Threads
    status: Literal["ok", "wrong", "failed"]
    reason: Annotated[str, Meta(max_length=1 << 16)] | None  # why it is not ok
    seconds: tuple[Seconds, ...]  # of each repetition
    captured: tuple[Seconds, ...] = ()  # of each as a CUDA graph, if measured so

    def __post_init__(self) -> None:
        if (self.status == "ok") != bool(self.seconds):
            raise ValueError(f"a run that is {self.status!r} has {len(self.seconds)} `seconds`")
        if self.captured and self.status != "ok":
            raise ValueError(f"a run that is {self.status!r} has `captured`")

    @property
    def median(self) -> float | None:
        """Median of the repetitions, if any."""
        return float(np.median(self.seconds)) if self.seconds else None

    @property
    def captured_median(self) -> float | None:
        """Median of the repetitions as a CUDA graph, if any."""
        return float(np.median(self.captured)) if self.captured else None

    @property
    def quartiles(self) -> tuple[float, float] | None:
        """First and third quartile of the repetitions, if any."""
        if not self.seconds:
            return None
        low, high = np.quantile(self.seconds, (0.25, 0.75))
        return float(low), float(high)


class Transfers(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds of each copy: of the input to the GPU, of labels back."""

    to_device: Annotated[tuple[Seconds, ...], Meta(min_length=1)]
    to_host: Annotated[tuple[Seconds, ...], Meta(min_length=1)]

    @property
    def medians(self) -> tuple[float, float]:
        """Medians of both."""
        return float(np.median(self.to_device)), float(np.median(self.to_host))


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One input of a suite, and everything that ran on it."""

    sizes: ClassVar[tuple[str, ...]]  # what else makes inputs of one name the same; first the size

    suite: Name
    input: Name
    description: Text
    stand_in: bool
    components: Count
    floor_bytes: Count
    runs: Annotated[tuple[Run, ...], Meta(max_length=MOST_RUNS)]
    transfers: Transfers | None = None

    def __post_init__(self) -> None:
        _check_unique((run.name for run in self.runs), "run")

    @property
    def size(self) -> int:
        """Number of elements or arcs."""
        return int(getattr(self, self.sizes[0]))

    @property
    def content(self) -> tuple[object, ...]:
        """Equal for two inputs of the same name that are the same."""
        return tuple(getattr(self, name) for name in (*self.sizes, "components"))


class GridRow(Row, frozen=True, kw_only=True):
    """An array as input."""

    sizes = ("elements", "shape", "dtype", "connectivity")

    elements: Count
    shape: Annotated[tuple[Count, ...], Meta(max_length=64)]
    dtype: Text
    connectivity: Count


class GraphRow(Row, frozen=True, kw_only=True):
    """A graph as input."""

    sizes = ("arcs", "vertices")

    vertices: Count
    arcs: Count


AnyRow = TypeVar("AnyRow", GridRow, GraphRow)


class _Result(msgspec.Struct, Generic[AnyRow], tag_field="kind", frozen=True, kw_only=True):
    subject: ClassVar[str]
    things: ClassVar[str] = "arcs"

    format: Literal["conncomp-bench"] = "conncomp-bench"
    version: Literal[1] = 1
    created: datetime
    commit: Text | None
    dirty: bool | None
    machine: Machine
    versions: dict[Text, Text]
    device: Literal["cpu", "cuda"]
    threads: Threads
    size: Text
    copy_bytes_per_second: Rate
    rows: Annotated[tuple[AnyRow, ...], Meta(max_length=MOST_ROWS)]

    def __post_init__(self) -> None:
        _check_unique((f"{row.suite}/{row.input}" for row in self.rows), "input")

    def floor(self, row: Row) -> float | None:
        """Return the seconds of a copy of what `row` must move; None for nothing."""
        return row.floor_bytes / self.copy_bytes_per_second or None


class GridResult(_Result[GridRow], tag="grid", frozen=True):
    """Measurements on arrays."""

    subject = "arrays"
    things = "elements"


class GraphResult(_Result[GraphRow], tag="graph", frozen=True):
    """Measurements on graphs."""

    subject = "graphs"


class StrongResult(_Result[GraphRow], tag="strong", frozen=True):
    """Measurements of strong components."""

    subject = "strong components"


Result = GridResult | GraphResult | StrongResult


def _check_unique(names: Iterable[str], thing: str) -> None:
    name, count = max(Counter(names).items(), key=lambda item: item[1], default=("", 0))
    if count > 1:
        raise ValueError(f"there are {count} of {thing} {name!r}")


class _Head(msgspec.Struct):
    format: Any = None
    version: Any = None


def load(path: StrPath) -> Result:
    """Read a result file; a ValueError names the file, and a field that is wrong."""
    with naming(path):
        with Path(path).open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
        if len(data) > LARGEST_FILE:
            raise ValueError(f"is larger than {LARGEST_FILE >> 20} MiB: not a result file")
        return _decode(data)


def save(path: StrPath, result: Result) -> None:
    """Write a result file, whole or not at all: one that `load` accepts."""
    data = msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n"
    with naming(path):
        _decode(data)
    with atomic_path(path) as temporary:
        temporary.write_bytes(data)


def _decode(data: bytes) -> Result:
    try:
        head = msgspec.json.decode(data, type=_Head)
        if head.format != FORMAT:
            raise ValueError("is not a result file of conncomp bench")
        if head.version != VERSION:
            raise ValueError(f"is of another version of the format than {VERSION}")
        result: Result = msgspec.json.decode(data, type=Result)
    except msgspec.ValidationError as error:
        raise ValueError(f"is not a valid result: {error}"[:LONGEST_REASON]) from None
    except msgspec.DecodeError as error:
        raise ValueError(f"is damaged, or not JSON: {error}") from None
    except RecursionError:
        raise ValueError("is nested too deeply for a result") from None
    return result
