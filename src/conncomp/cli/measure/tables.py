"""Tables of objects: of one image each, kept meanwhile; of all images, with units, in the end."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import conncomp
from conncomp._optional import optional
from conncomp.chunked.volumes.volume import identity_of
from conncomp.cli._output import write_table as write_to
from conncomp.cli.measure.inputs import Source, files_read_with
from conncomp.cli.measure.measuring import Measured
from conncomp.cli.measure.options import Options, as_known
from conncomp.files.access import atomic_path, check_space
from conncomp.files.parts import check_place, locked, remove_lock, whole

# Which power of a length a column is, by its property: of areas, as many as axes.
LENGTHS = {
    *("axis_major_length", "axis_minor_length", "centroid", "centroid_local", "centroid_weighted"),
    *("centroid_weighted_local", "equivalent_diameter_area", "feret_diameter_max"),
    *("feret_diameter_min", "perimeter", "perimeter_crofton"),
}
AREAS = {"area", "area_bbox", "area_convex", "area_filled"}
FACES = {"contact_area"}  # as many as axes, but one
SQUARES = {"inertia_tensor", "inertia_tensor_eigvals", "surface_area_crofton"}
# The power of a moment is the sum of its orders, at the end of its name; values count as 1.
MOMENTS = {"moments", "moments_central", "moments_weighted", "moments_weighted_central"}

KEPT = re.compile(r"[0-9a-f]{40}\.(arrow|tmp)")
# In the metadata of a table, where the command has its own.
KEY = b"conncomp"
STATES_KEY = b"conncomp-states"  # of files that were written with a table


def table_of(source: Source, measured: Measured, options: Options) -> Any:
    """Return an image's table: where objects are from, and columns with units."""
    arrow = optional("pyarrow")
    count = len(measured.columns["label"])
    columns = {
        "file": arrow.repeat(str(source.path), count),
        "series": arrow.repeat(arrow.scalar(source.series, arrow.int32()), count),
        "channel": arrow.repeat(arrow.scalar(options.channel, arrow.int32()), count),
        **{name: arrow.array(column) for name, column in measured.columns.items()},
    }
    units = {name: _unit(name, measured) for name in columns}
    metadata = {name: {"unit": unit} if unit else None for name, unit in units.items()}
    fields = [arrow.field(name, c.type, metadata=metadata[name]) for name, c in columns.items()]
    about = {name: getattr(measured, name) for name in ("threshold", "axes", "doubt")}
    about |= measured.scale._asdict()
    about |= {"objects": count, "separate": list(measured.separate)}
    schema = arrow.schema(fields, {KEY: json.dumps(about)})
    return arrow.Table.from_arrays(list(columns.values()), schema=schema)


def _unit(column: str, measured: Measured) -> str:
    name = re.sub(r"(-\d+)+$", "", column)
    orders = [int(order) for order in column.removeprefix(name).split("-")[1:]]
    ndim, unit = len(measured.scale.spacing), measured.scale.unit
    kinds = (LENGTHS, 1), (SQUARES, 2), (AREAS, ndim), (FACES, ndim - 1)
    # Orders of a moment, after which comes the channel.
    powers = (*kinds, (MOMENTS, sum(orders[:ndim])))
    power = next((power for names, power in powers if name in names), 0)
    if power == 0 or not unit:
        return ""
    return unit if power == 1 else f"{unit}^{power}"


def about_table(table: Any) -> dict[str, Any]:
    """Return the facts in the metadata of the table of an image."""
    about: dict[str, Any] = json.loads(table.schema.metadata[KEY])
    return about


class KeptTables:
    """Tables of images, beside that of all; made anew after changes of input or output."""

    def __init__(self, options: Options) -> None:
        self.folder = options.kept_folder
        self._facts = [repr(as_known(options)), conncomp.__version__]
        if not options.resume:
            self.remove()

    def place(self, source: Source) -> Path:
        """Return where the table of an image as it is now belongs, before it is read."""
        paths = [path for path in (source.path, source.intensity) if path]
        others = [other for path in paths for other in files_read_with(path)]
        states = [identity_of(path) for path in (*map(str, paths), *others)]
        facts = [str(source.path), source.series, states, *self._facts]
        return self.folder / f"{sha256(json.dumps(facts).encode()).hexdigest()[:40]}.arrow"

    def get(self, place: Path, source: Source) -> Any:
        """Return the table of an image, if any."""
        arrow = optional("pyarrow.ipc")
        try:
            table = arrow.open_file(place.read_bytes()).read_all()
            about_table(table)
            states = json.loads(table.schema.metadata[STATES_KEY])
            return table if states == _states_of_written(source) else None
        except (OSError, ValueError, TypeError, KeyError):  # one that was cut short, too
            return None

    def put(self, place: Path, source: Source, table: Any) -> None:
        """Keep the table of an image; a kill leaves it whole or not at all."""
        states = json.dumps(_states_of_written(source))
        table = table.replace_schema_metadata({**table.schema.metadata, STATES_KEY: states})
        arrow = optional("pyarrow")
        packed = arrow.BufferOutputStream()
        with arrow.ipc.new_file(packed, table.schema) as writer:
            writer.write_table(table)
        check_space(place, len(packed.getvalue()))
        with whole(place) as temporary:
            temporary.write_bytes(packed.getvalue())

    def remove(self) -> None:
        """Remove all tables, and what a kill has cut short."""
        with suppress(OSError):
            for name in os.listdir(self.folder):
                if KEPT.fullmatch(name):
                    (self.folder / name).unlink()


@contextmanager
def kept_tables(options: Options) -> Iterator[KeptTables]:
    """Lock the folder of tables, and yield it; an empty one goes."""
    folder = options.kept_folder
    check_place(folder.parent, folder)
    with locked(folder):
        try:
            yield KeptTables(options)
        finally:
            remove_lock(folder)


def _states_of_written(source: Source) -> list[list[int]]:
    states = [path.stat() for path in (source.labels, source.picture) if path is not None]
    return [[state.st_size, state.st_mtime_ns] for state in states]


def write_table(path: Path, tables: Sequence[Any]) -> None:
    """Write the table of all images, which appears only when it is complete."""
    arrow = optional("pyarrow")
    every = (field for table in tables for field in table.schema)
    units = {field.name: field.metadata for field in every if field.metadata}
    plain = [table.replace_schema_metadata() for table in tables]
    table = arrow.concat_tables(plain, promote_options="permissive")
    about = json.dumps({"version": conncomp.__version__, "unit": about_table(tables[0])["unit"]})
    fields = [field.with_metadata(units.get(field.name)) for field in table.schema]
    table = table.cast(arrow.schema(fields, {KEY: about}))
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        write_to(file, path, table)
