"""Targets for volumes in files, whole and damaged, and for streams of slabs."""

import contextlib
import errno
import itertools
import json
import math
import re
import shutil
import tempfile
from pathlib import Path

import numcodecs
import numpy as np
import pytest
import zarr

import conncomp
from conncomp import components
from conncomp.chunked.volumes import volume
from conncomp.chunked.volumes.formats import opened_volume, read_volume, slices
from conncomp.cli._input import read_any
from conncomp.files.scales import batch_axes_of

from ..volume_sources import NAMED as FORMATS
from ..volume_sources import SOURCES, read_labels
from . import draws
from .mutate import EXTREMES
from .target import assert_same

# A damaged header may tell of more, of which nothing is stored; all of that would be labelled.
MOST_ELEMENTS = 1 << 20
NAMED = r"/(in|out)\b"
# What entries of metadata become.
ODD = [0, -1, 5, 2**31, 2**63, 1e30, None, "", "pickle", "|O", [], {}, [1], [3, 2, 4], "../in"]


@contextlib.contextmanager
def _blocks_of(block, slab):
    """Let blocks have so many elements at most."""
    before = volume.BLOCK, slices.SLAB
    volume.BLOCK, slices.SLAB = block, slab
    try:
        yield
    finally:
        volume.BLOCK, slices.SLAB = before


def _shape(choices, ndim, most):
    """Return lengths, none of them 0, of so many elements at most."""
    lengths = []
    for _ in range(ndim):
        lengths.append(min(choices.pick([4, 3, 1, 7, 2, 12, 65]), most // math.prod(lengths)))
    return tuple(lengths)


def _written(choices, folder):
    """Write a small volume; return the name, and the volume."""
    kind = choices.pick(list(SOURCES))
    suffix, write = SOURCES[kind]
    ndim = 3 if kind in ("folder", "tiff", "tiff, packed") else 2 + choices.below(3)
    shape = _shape(choices, ndim, 300)
    rng = choices.generator()
    dtype = choices.pick(["u1", "i2", "f4", "u8", "?", "f8"])
    if kind == "folder" and dtype == "?":
        dtype = "u1"
    drawn = (rng.integers(0, 3, shape) * (rng.random(shape) < 0.6)).astype(dtype)
    chunks = tuple(1 + choices.below(length) for length in shape)
    return write(folder / f"in{suffix}", drawn, chunks), drawn


def label_files(choices):
    """Compare labels of files with those of the whole, and see what a plan tells of it."""
    with tempfile.TemporaryDirectory(prefix="conncomp-fuzz-") as name:
        folder = Path(name)
        source, drawn = _written(choices, folder)
        given = drawn
        options = {"numbering": choices.pick(["consecutive", "roots"])}
        if choices.flag():
            options["threshold"] = choices.pick([0, 1, 0.5])
            given = np.greater(drawn, options["threshold"])
        is_movie = "multiscales" in _attributes(source) and drawn.ndim > 3
        axes = drawn.ndim - 3 if is_movie else choices.below(drawn.ndim)
        more = {"batch_axes": axes, "connectivity": 1 + choices.below(drawn.ndim - axes)}
        more["periodic"] = draws.periodic(choices, drawn.ndim - axes)
        expected = conncomp.label(given, numbering=options["numbering"], **more)
        background = -1 if options["numbering"] == "roots" else 0
        of_labels = {"background": background, "batch_axes": axes}
        if choices.flag():
            options["min_size"] = choices.below(6)
            least = min(options["min_size"], expected.size + 1)
            expected = conncomp.remove_small_components(expected, least, **of_labels)
        if choices.flag():
            options["largest"] = choices.below(4)
            most = min(options["largest"], expected.size)
            expected = conncomp.largest_components(expected, most, **of_labels)
        target = folder / choices.pick(["out.npy", "out.zarr"])
        block, slab = choices.pick([8, 60, 1 << 21]), choices.pick([1, 40, 1 << 24])
        with _blocks_of(block, slab):
            if is_movie and choices.flag():
                more.pop("batch_axes")
            options |= more
            count = conncomp.label_file(source, target, **options)
            for argument in ("numbering", "min_size", "largest"):
                options.pop(argument, None)
            plan = conncomp.plan_labels(source, **options)
            with opened_volume(str(source)) as opened:
                block = volume.block_shape(opened)
        np.testing.assert_array_equal(read_labels(target), expected)
        assert count == np.count_nonzero(conncomp.component_sizes(expected, **of_labels))
        assert sorted(path.name for path in folder.iterdir()) == sorted([source.name, target.name])
        counts = [-(-n // b) for n, b in zip(drawn.shape, block, strict=True)]
        wanted = (drawn.shape, block, np.prod(counts))
        assert_same((plan.shape, plan.block_shape, plan.blocks), wanted)


ORDERS = ["tyx", "zyx", "tzyx", "ztyx", "cyx", "tczyx", "czyx", "ctyx"]
# What these hold of orders.
ONLY = {"gif": ["tyx"], "nifti": ["tyx", "zyx", "tzyx"], "nrrd": ["tyx", "zyx", "tzyx", "ztyx"]}
ONLY |= {f"ome-zarr 0.{k}": ["tyx", "zyx", "tzyx", "cyx", "tczyx"] for k in (4, 5)}
ONLY |= {"imagej": ["tyx", "zyx", "tzyx"]}


def films(choices):
    """Compare labels of what names its axes with those of each time alone."""
    kind = choices.pick(list(FORMATS))
    axes = choices.pick(ONLY.get(kind, ORDERS))
    lengths = [1 if axis == "c" else 2 + choices.below(4) for axis in axes]
    rng = choices.generator()
    image = (rng.random(lengths) < 0.4).astype(np.uint8)
    if kind == "gif":  # Pillow writes equal frames that follow each other once
        image[:, 0, 0] = np.arange(len(image)) % 2
    joins = "t" in axes and choices.flag()
    wanted = np.zeros(image.shape, np.int32)
    components = 0
    separate = [k for k, axis in enumerate(axes) if axis == "c" or (axis == "t" and not joins)]
    for place in itertools.product(*(range(lengths[k]) for k in separate)):
        item = [slice(None)] * image.ndim
        for k, index in zip(separate, place, strict=True):
            item[k] = index
        wanted[tuple(item)], found = conncomp.label(image[tuple(item)], return_num=True)
        components += found
    with tempfile.TemporaryDirectory(prefix="conncomp-fuzz-") as folder:
        name, write = FORMATS[kind]
        path = Path(folder, name)
        write(path, image, axes)
        ahead, found = read_any(path).without_single_channel().separate(joins)
        labels = conncomp.label(ahead.image, batch_axes=len(found))
        labels = np.moveaxis(labels, range(len(found)), found)
        np.testing.assert_array_equal(labels.reshape(wanted.shape), wanted)
        if kind in ("gif", "nifti", "nrrd"):
            return
        with opened_volume(str(path)) as opened:
            kept = [axis for axis in axes.upper() if axis in opened.axes]
            assert opened.axes == "".join(kept)
            assert set(axes.upper()) - set(kept) <= {"C"}
        target = Path(folder, "out.npy")
        if is_behind := "zt" in axes:
            with pytest.raises(ValueError, match="lies behind"):
                conncomp.label_file(path, target)
        if joins or not is_behind:
            count = conncomp.label_file(path, target, **({"batch_axes": 0} if joins else {}))
            assert count == components
            np.testing.assert_array_equal(np.load(target).reshape(wanted.shape), wanted)


def _attributes(source):
    """Return the text of what a group of Zarr says of itself."""
    names = [source / ".zattrs", source / "zarr.json"]
    return "".join(name.read_text() for name in names if name.exists())


def damaged_volumes(choices):
    """Label volumes of which some bytes are others: the labels of what is read, or an error."""
    with tempfile.TemporaryDirectory(prefix="conncomp-fuzz-") as name:
        folder = Path(name)
        source, _ = _written(choices, folder)
        is_linked = source.is_dir() and choices.below(4) == 3 and _link(choices, source)
        for _ in range(0 if is_linked else 1 + choices.below(3)):
            _damage(choices, source)
        target = folder / choices.pick(["out.npy", "out.zarr"])
        try:
            with opened_volume(str(source)) as opened:
                if np.prod(opened.shape, dtype=float) > MOST_ELEMENTS:
                    return
            held = read_volume(str(source)).image
            conncomp.label_file(source, target)
        except BaseException as error:
            assert not target.exists()
            # What is at fault is named: the volume, or a file of it or of the labels.
            if not isinstance(error, MemoryError) and not re.search(NAMED, str(error)):
                raise AssertionError(f"{error!r} names nothing") from error
            raise
        assert not is_linked, "follows a link"
        with opened_volume(str(source)) as opened:
            whole = opened.read(tuple(slice(0, n) for n in opened.shape))
            batch_axes = batch_axes_of(opened.axes, (1,) * len(opened.axes))
            expected = conncomp.label(whole, batch_axes=batch_axes)
        np.testing.assert_array_equal(read_labels(target), expected)
        np.testing.assert_array_equal(held, whole)


# Elements of shapes that no disk of a case has room for, and what is free there.
HUGE, MOST_FREE = 1 << 34, 10**5


def forged_volumes(choices):
    """Label and save volumes of fill values, of any shape, on disks of any size.

    What does not fit is refused before anything is written, and leaves nothing behind; what fits is
    labelled rightly, and takes no more than is free.
    """
    with tempfile.TemporaryDirectory(prefix="conncomp-fuzz-") as name:
        folder = Path(name)
        is_huge, fill = choices.flag(), choices.pick([0, 1, 7])
        shape = _forged_shape(choices) if is_huge else _shape(choices, 3, 300)
        source = choices.pick(FORGES)(folder, shape, fill)
        target = folder / choices.pick(["out.npy", "out.zarr", "new/out.npy"])
        saved = choices.flag()
        free = choices.pick([MOST_FREE, 0, 1000])

        def begun(done, total):
            assert not is_huge, "begins what does not fit"

        before = sorted(folder.rglob("*"))
        with _free_space(free), conncomp.open_volume(source, progress=begun) as volume:
            error = None
            try:
                if saved:
                    volume.save(target)
                else:
                    conncomp.label_file(source, target, progress=begun)
            except OSError as caught:
                error = caught
        if error is not None:
            if error.errno != errno.ENOSPC:
                raise error
            assert sorted(folder.rglob("*")) == before, "leaves something behind"
            assert is_huge or free < MOST_FREE
            return
        expected = np.full(shape, fill if saved else min(fill, 1))
        np.testing.assert_array_equal(read_labels(target), expected)
        assert not Path(f"{target}.partial").exists()
        written = [target, *target.rglob("*")]
        assert sum(path.stat().st_size for path in written if path.is_file()) <= free


def _forged_shape(choices):
    """Return lengths of HUGE elements or more, and fewer blocks than are refused as such."""
    planes = 1 << (13 + choices.below(3))
    return planes, 1 << 11, 1 << (10 + choices.below(3))


@contextlib.contextmanager
def _free_space(free):
    usage = shutil.disk_usage
    shutil.disk_usage = lambda path: usage("/")._replace(free=free)
    try:
        yield
    finally:
        shutil.disk_usage = usage


def _forged_hdf5(folder, shape, fill):
    import h5py

    with h5py.File(folder / "in.h5", "w") as file:
        chunks = tuple(min(64, length) for length in shape)
        file.create_dataset("image", shape, "u1", chunks=chunks, fillvalue=fill)
    return folder / "in.h5"


def _forged_zarr(folder, shape, fill, version=3):
    chunks = tuple(min(64, length) for length in shape)
    options = {"dtype": "u1", "fill_value": fill, "zarr_format": version}
    zarr.create_array(store=str(folder / "in.zarr"), shape=shape, chunks=chunks, **options)
    return folder / "in.zarr"


def _forged_npy(folder, shape, fill):
    """A file with a hole, if it is large, and so of zeros."""
    if np.prod(shape, dtype=float) < HUGE:
        np.save(folder / "in.npy", np.full(shape, fill, "u1"))
        return folder / "in.npy"
    shape = math.prod(shape) >> 12, 64, 64
    with (folder / "in.npy").open("wb") as file:
        header = {"descr": "|u1", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        file.truncate(file.tell() + math.prod(shape))
    return folder / "in.npy"


FORGES = [_forged_hdf5, _forged_zarr, lambda *given: _forged_zarr(*given, version=2), _forged_npy]

# The functions of labels in memory, which those of files are held against.
IN_MEMORY = (
    components.component_sizes,
    components.size_histogram,
    components.largest_components,
    components.remove_small_components,
    components.relabel_consecutive,
    components.component_statistics,
    components.contacts,
)


def label_volumes(choices):
    """Compare what is told of labels in files, and what is made of them, with those in memory."""
    with tempfile.TemporaryDirectory(prefix="conncomp-fuzz-") as name:
        folder = Path(name)
        source, drawn = _written(choices, folder)
        function = choices.pick(IN_MEMORY)
        known = {"background": choices.pick([0, None]), "batch_axes": choices.below(drawn.ndim)}
        given = {"largest_components": (choices.below(4),)}
        given["remove_small_components"] = (choices.below(9),)
        arguments = given.get(function.__name__, ())
        if function is components.component_statistics:
            known["surfaces"], arguments = True, (drawn,)
        with _blocks_of(choices.pick([8, 60, 1 << 21]), choices.pick([1, 40, 1 << 24])):
            opened = conncomp.open_volume(source)
            if opened.dtype.kind not in "iu":
                with contextlib.suppress(TypeError, ValueError):
                    getattr(conncomp, function.__name__)(opened, *arguments, **known)
                    raise AssertionError("took what holds no labels")
                return
            found = getattr(conncomp, function.__name__)(opened, *arguments, **known)
            if isinstance(found, conncomp.results.VolumeFile):
                target = folder / choices.pick(["out.npy", "out.zarr"])
                found.save(target)
                found = read_labels(target)
            opened.close()
        wanted = function(drawn, *arguments, **known)
        if isinstance(wanted, np.ndarray):
            wanted, found = (wanted,), (found,)
        if not isinstance(wanted, tuple):
            names = [name for name in vars(wanted) if name not in ("spacing", "properties")]
            wanted, found = ([getattr(each, name) for name in names] for each in (wanted, found))
        for column, expected in zip(found, wanted, strict=True):
            np.testing.assert_allclose(column, expected, rtol=1e-9, atol=1e-9)


TELLING = {"blosc", "zstd", "lz4"}


def packed_volumes(choices):
    """Pack a volume by several steps, and let a chunk say that it holds more than it can."""
    with tempfile.TemporaryDirectory(prefix="conncomp-fuzz-") as name:
        source = Path(name, "in.zarr")
        drawn = choices.generator().integers(0, 3, (8, 10)).astype("u1")
        steps = [choices.pick(["zstd", "gzip", "blosc", "crc32c"]) for _ in range(choices.below(4))]
        version = choices.pick([3, 2])
        if version == 2:
            steps = [{"crc32c": "lz4"}.get(step, step) for step in steps]
        _pack(choices, source, drawn, steps, version)
        # What makes room for as much as a chunk says is last, but for a checksum.
        *others, last = ["", *(steps[:-1] if steps[-1:] == ["crc32c"] else steps)]
        is_forged = last in TELLING and choices.flag()
        if is_forged:
            _forge(source, last)
        if TELLING & set(others):
            with pytest.raises(ValueError, match="sizes cannot be checked"):
                opened_volume(str(source)).__enter__()
            return
        place = slice(0, 8), slice(0, 10)
        with opened_volume(str(source)) as opened:
            if is_forged:
                with pytest.raises(ValueError, match=r"says that it holds|Zstandard|is cut short"):
                    opened.read(place)
            else:
                assert_same((opened.read(place),), (drawn,))


def _pack(choices, source, drawn, steps, version):
    if version == 3:
        made = [getattr(zarr.codecs, f"{step.capitalize()}Codec")() for step in steps]
        more = {"shards": (8, 10)} if choices.flag() else {}
        given = {"compressors": made or None, **more}
    else:
        classes = {"zstd": "Zstd", "gzip": "GZip", "blosc": "Blosc", "lz4": "LZ4"}
        made = [getattr(numcodecs, classes[step])() for step in steps]
        given = {"filters": made[:-1] or None, "compressors": made[-1] if made else None}
    given |= {"shape": drawn.shape, "chunks": (4, 5), "dtype": "u1", "zarr_format": version}
    zarr.create_array(store=str(source), **given)[...] = drawn


def _forge(source, packing):
    """Let the first chunk that is packed say that it holds two gigabytes."""
    files = sorted(path for path in source.rglob("*") if path.is_file())
    path = next(path for path in files if path.name[0].isdigit())
    content = bytearray(path.read_bytes())
    if packing == "zstd":
        content[4:9] = bytes([0xA0 | content[4] & 4]) + b"\xff\xff\xff\x7f"
    else:
        at = 4 if packing == "blosc" else 0
        content[at : at + 4] = (2**31 - 1).to_bytes(4, "little")
    path.write_bytes(content)


def _damage(choices, source):
    """Change one file of a volume: a number in its text, or some bytes."""
    files = sorted(path for path in source.rglob("*") if path.is_file()) or [source]
    path = choices.pick(files)
    content = path.read_bytes()
    kind = choices.below(6)
    if path.suffix == ".json" or path.name.startswith(".z"):
        path.write_text(_other_json(choices, content.decode("utf-8", "replace")))
        return
    at = (choices.below(256) * 256 + choices.below(256)) % (len(content) + 1)
    if kind == 0:
        value = choices.pick(EXTREMES) % 2**64
        number = value.to_bytes(8, "little")[: 1 << choices.below(4)]
        content = content[:at] + number + content[at + len(number) :]
    elif kind == 1:
        content = content[:at]
    elif kind == 2:
        content = content[:at] + content[at // 2 :]
    elif kind == 3:
        content = content[:at] + bytes([choices.below(256)]) + content[at + 1 :]
    elif kind == 4:
        content = choices.remaining()[:64]
    else:
        path.unlink()
        return
    path.write_bytes(content)


def _link(choices, source):
    """Let a file of a folder be a link to one elsewhere; say whether all of them are read."""
    files = sorted(path for path in source.rglob("*") if path.is_file())
    if not files:
        return False
    path = choices.pick(files)
    elsewhere = source.with_name("elsewhere")
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    return path.name != ".zmetadata" and "s1" not in path.parts


def _other_json(choices, text):
    """Return metadata with one entry, anywhere, replaced by something else."""
    try:
        told = json.loads(text)
    except ValueError:
        return text
    places = []

    def walk(node):
        for key in node if isinstance(node, dict) else range(len(node)):
            places.append((node, key))
            if isinstance(node[key], (dict, list)):
                walk(node[key])

    walk(told)
    if places:
        node, key = choices.pick(places)
        node[key] = choices.pick(ODD)
    return json.dumps(told)


def streams(choices):
    """Compare what slabs tell of components with statistics of the whole volume."""
    ndim = 2 + choices.below(3)
    shape = _shape(choices, ndim, 400)
    rng = choices.generator()
    drawn = rng.integers(0, choices.pick([2, 3, 5]), shape).astype(choices.pick("iBhqf"))
    background = choices.pick([0, None, 1])
    options = {
        "background": background,
        "connectivity": 1 + choices.below(ndim),
        "periodic": draws.periodic(choices, ndim),
    }
    image = rng.integers(-5, 9, shape) if choices.flag() else None
    surfaces, spacing = choices.flag(), choices.pick([None, 0.5])
    lengths = [1 + choices.below(4) for _ in range(3)]

    def slabs():
        begin = turn = 0
        while begin < shape[0]:
            end = begin + lengths[turn % 3]
            part = slice(begin, end)
            yield drawn[part] if image is None else (drawn[part], image[part])
            begin, turn = end, turn + 1

    batches = list(conncomp.stream_labels(slabs(), surfaces=surfaces, spacing=spacing, **options))
    labels = conncomp.label(drawn, numbering="roots", **options)
    whole = conncomp.component_statistics(
        labels, image, surfaces=surfaces, spacing=spacing, background=-1
    )
    found = np.concatenate([batch.labels for batch in batches] or [np.zeros(0, int)])
    order = np.argsort(found)
    assert_same((found[order],), (whole.labels,))
    names = ["sizes", "bounding_boxes", "centroids"]
    names += ["faces"] if surfaces else []
    names += ["sums", "minima", "maxima"] if image is not None else []
    for name in names if len(found) else ():
        column = np.concatenate([getattr(batch, name) for batch in batches])[order]
        np.testing.assert_allclose(column, getattr(whole, name), rtol=1e-9, atol=1e-9)
