"""``conncomp label --stats-only``: a volume that is read slab by slab, and only measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray

import conncomp
from conncomp._memory import in_words, memory_limit, peak_memory, resident_memory
from conncomp.cli._options import check_spacing, closed_axes, values_of
from conncomp.cli._output import columns_of, rows_file
from conncomp.cli._report import Counter, Stages, describe_decades
from conncomp.cli.label.options import Options, check_floats, finite
from conncomp.files.access import naming
from conncomp.files.scales import Scale, separate_axes
from conncomp.files.slabs import open_slabs
from conncomp.files.thresholds import above
from conncomp.files.tiff.series import Series

if TYPE_CHECKING:
    from conncomp.chunked.selection import SizeSummary

# Bytes of an element beside its value, where components are few: of a slab, its label; of slices
# that are joined, rows; and bytes of the rows of a component while they are joined.
ELEMENT, SLICE, COMPONENT = 32, 100, 600
LARGEST_SLAB = 1 << 23  # elements
GROWTH = 2  # of a slab, at most, over the one before


class Budget:
    """A limit of memory: slabs begin with one slice, and grow while it allows."""

    def __init__(self, limit: int | None, file: Series) -> None:
        plane, width = math.prod(file.shape[1:]), file.dtype.itemsize
        self.limit, self._file, self._slice = limit, file, plane * (2 * width + ELEMENT)
        self._most = max(1, LARGEST_SLAB // max(plane, 1))
        least = resident_memory() + plane * (2 * width + SLICE)
        if limit is not None and least > limit:
            raise click.UsageError(
                f"--memory {in_words(limit)}: the program and one slice of {plane:,} elements take "
                f"{in_words(least)}; give more."
            )

    def slabs(self, found: Callable[[], int]) -> Iterator[NDArray[Any]]:
        """Yield all slices while there is memory; `found` counts finished components."""
        begin, end = 0, self._file.shape[0]
        length = self._most if self.limit is None else 1
        while begin < end:
            before = resident_memory()
            yield self._file.read(begin, min(begin + length, end))
            begin += length
            if self.limit is not None and begin < end:
                length = self._next_length(length, before, begin, found() / begin)

    def _next_length(self, length: int, before: int, done: int, components: float) -> int:
        """Return how many slices come next, given components per slice."""
        assert self.limit is not None
        # As slabs are alike, but for what is left of each: components that are open.
        grown = max(resident_memory() - before, 0) if done > length else 0
        most = peak_memory() + grown
        if most > self.limit:
            return max(length // 2, 1)
        longer = min(GROWTH * length, self._most)
        more = (longer - length) * (self._slice + COMPONENT * components)
        return longer if most + more <= self.limit else length


def measure_stream(options: Options, stage: Stages) -> dict[str, Any]:
    """Measure the components of a volume; return the report."""
    with open_slabs(options.input, options.raw) as file:
        with naming(options.input):
            apart = separate_axes(file.axes, options.join_time)
        if any(file.shape[k] > 1 for k in apart):
            raise ValueError(
                f"{options.input}: has axes {file.axes}, and --stats-only measures one volume; "
                "leave it out, or give --join-time if components go on from frame to frame"
            )
        if file.dtype.kind == "f":
            check_floats(options, file.read(0, 1))
        check_spacing(options.spacing, len(file.shape))
        axes = closed_axes(options.periodic, len(file.shape), "image")
        budget = Budget(options.memory, file)
        try:
            with stage("labelling", counts=True) as progress, memory_limit(budget.limit):
                all_sizes, kept = _measure(file, options, axes, budget, progress)
        except MemoryError as error:
            if budget.limit is None:
                raise
            raise MemoryError(
                f"--memory {in_words(budget.limit)} is too little for a slab, its components and "
                f"those that are open ({error}); give more"
            ) from error
    components, elements = kept.by_digits.sum(axis=0).tolist()
    found = facts_of(all_sizes) | {"kept": {"components": components, "elements": elements}}
    found["memory"] = {"peak": peak_memory(), "limit": budget.limit}
    return report_of(options, stage, file.shape, file.dtype, Axes(file.axes, [], axes), **found)


def facts_of(summary: SizeSummary, batch: tuple[int, ...] = ()) -> dict[str, Any]:
    """Return the sizes for a report; `batch` are lengths of axes of separate images."""
    digits = np.flatnonzero(summary.by_digits[:, 0]).max(initial=-1) + 1
    components, elements = summary.by_digits.sum(axis=0).tolist()
    largest: list[dict[str, Any]] = []
    for size, item, label in summary.largest.tolist():
        place = {"item": np.array(np.unravel_index(item, batch)).tolist()} if batch else {}
        largest.append({"label": label, "size": size, **place})
    sizes = describe_decades(summary.by_digits[:digits].tolist())
    return {"components": components, "foreground": elements, "largest": largest, "sizes": sizes}


class Axes(NamedTuple):
    """The axes of an image, in the order of the file."""

    letters: str
    separate: list[int]  # those of separate images, which come first in arrays here
    periodic: list[bool]
    scale: Scale | None = None  # in the order of arrays here

    @property
    def batch(self) -> int:
        """The number of axes of separate images."""
        return len(self.separate)


def report_of(
    options: Options, stage: Stages, shape: tuple[int, ...], dtype: object, axes: Axes, **found: Any
) -> dict[str, Any]:
    """Return the report on an image or volume."""
    return {
        "input": {"path": options.input, "shape": shape, "dtype": str(dtype)},
        "background": finite(options.background),
        "connectivity": options.connectivity or len(shape) - axes.batch,
        **{"periodic": axes.periodic, "axes": axes.letters},
        **{"separate": axes.separate, "batch_axes": axes.batch},
        "seconds": stage.seconds,
        "elements_per_second": math.prod(shape) / stage.seconds["labelling"],
        **{"device": options.device, "threads": conncomp.get_num_threads()},
        "written": {"labels": options.output, "statistics": options.stats, "picture": None},
        "threshold": options.threshold,
        **found,
    }


def _measure(
    file: Series, options: Options, axes: list[bool], budget: Budget, progress: Counter
) -> tuple[SizeSummary, SizeSummary]:
    """Summarise all components, and those kept; write lines of the latter if wanted."""
    # Slow, and not for the help.
    from conncomp.chunked.selection import merged_summaries, summary_of
    from conncomp.chunked.streams.batches import measure_slabs

    asked, properties = values_of(options, "background", "connectivity"), properties_of(options)
    total = math.prod(file.shape) * file.dtype.itemsize
    ends = np.array([(0, length) for length in file.shape])
    none = np.zeros(0, np.int64)
    found = kept = summary_of(none, none, none, 1)

    def slabs() -> Iterator[Any]:
        done = 0
        for slab in budget.slabs(lambda: int(found.by_digits[:, 0].sum())):
            yield slab if options.threshold is None else above(slab, options.threshold)
            done += slab.nbytes
            progress(done, total)

    def with_batch(summary: SizeSummary, rows: Any) -> SizeSummary:
        labels, sizes = batch.labels[rows], batch.sizes[rows]
        return merged_summaries([summary, summary_of(sizes, 0 * labels, labels, 1)], 1)

    batches = measure_slabs(slabs(), asked | {"periodic": axes}, False, options.spacing, None)
    with ExitStack() as files:
        add = None
        if options.stats is not None:
            counts = (("bbox", 2 * len(axes)), ("centroid", len(axes)), ("spans", len(axes)))
            numbered = [f"{name}-{k}" for name, count in counts for k in range(count)]
            add = files.enter_context(rows_file(options.stats, [*properties[:-2], *numbered]))
        for batch in batches if total else ():
            large = batch.sizes >= (options.min_size or 1)
            found, kept = with_batch(found, slice(None)), with_batch(kept, large)
            if add is not None:
                spans = (batch.bounding_boxes == ends).all(axis=2).astype(np.int64)
                columns = [*columns_of(batch, *properties).values(), *spans.T]
                add([column[large] for column in columns])
    return found, kept


def properties_of(options: Options) -> list[str]:
    """Return the columns of all tables of components: place and size."""
    volumes = ["area"] if options.spacing is not None else []
    return ["label", "num_pixels", *volumes, "bbox", "centroid"]
