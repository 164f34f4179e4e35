"""`label_file` of OME-Zarr: which labels are written, and that they are as the standard says."""

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import conncomp
from conncomp.chunked.volumes import volume, writing
from conncomp.chunked.volumes.formats import ome_zarr, opened_volume
from conncomp.chunked.volumes.formats.ome_zarr import list_label
from conncomp.chunked.volumes.targets import OmeTarget, nearest
from volume_sources import write_image

zarr = pytest.importorskip("zarr")
models = pytest.importorskip("ome_zarr_models")

RNG = np.random.default_rng(4)
VOLUME = RNG.integers(0, 3, (12, 15, 18)).astype(np.uint8)


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(volume, "BLOCK", 1)


def arrays_of(path):
    group = zarr.open_group(str(path), mode="r")
    return [group[str(k)] for k in range(len(list(group.array_keys())))]


@pytest.mark.parametrize("version", ["0.4", "0.5"])
@pytest.mark.parametrize("within", [True, False])
def test_labels_of_an_image(tmp_path, version, within):
    options = {"shards": (8, 10, 12)} if version == "0.5" else {}
    options = options if within else {}
    image = tmp_path / "image.zarr"
    write_image(
        image, VOLUME, "zyx", version, chunks=(4, 5, 6), levels=1 if options else 3, **options
    )
    target = image / "labels" / "parts" if within else tmp_path / "parts.zarr"
    count = conncomp.label_file(image, target, connectivity=1)
    wanted, number = conncomp.label(VOLUME, return_num=True, connectivity=1)
    assert count == number
    arrays = arrays_of(target)
    np.testing.assert_array_equal(arrays[0][...], wanted, strict=True)
    source = zarr.open_group(str(image), mode="r")
    for k, array in enumerate(arrays):
        level = source[f"s{k}"]
        assert (array.shape, array.chunks, array.shards) == (
            level.shape,
            level.chunks,
            level.shards,
        )
        np.testing.assert_array_equal(array[...], wanted[:: 2**k, :: 2**k, :: 2**k])
    opened = models.open_ome_zarr(zarr.open_group(str(target), mode="r"))
    scales = (opened.attributes if version == "0.4" else opened.ome_attributes).multiscales[0]
    assert scales.axes[0].unit == "micrometer"
    assert [data.coordinateTransformations[0].scale[0] for data in scales.datasets] == [
        0.5 * 2**k for k in range(len(arrays))
    ]
    attributes = dict(zarr.open_group(str(target), mode="r").attrs)
    told = attributes if version == "0.4" else attributes["ome"]
    assert (target / told["image-label"]["source"]["image"]).resolve() == image.resolve()
    if within:
        listed = models.open_ome_zarr(zarr.open_group(str(target.parent), mode="r"))
        assert type(listed).__name__ == "Labels"
        conncomp.label_file(image, image / "labels" / "more", connectivity=1)
        group = dict(zarr.open_group(str(target.parent), mode="r").attrs)
        assert (group if version == "0.4" else group["ome"])["labels"] == ["parts", "more"]
        assert sorted(os.listdir(target.parent))[-2:] == ["parts", "zarr.json"] or version == "0.4"
        # The labels changed nothing of the image.
        models.open_ome_zarr(source)
        if version == "0.4":
            metadata = json.loads((target / "0" / ".zarray").read_text())
            assert metadata["dimension_separator"] == "/"
        else:
            assert arrays[0].metadata.dimension_names == ("z", "y", "x")


@pytest.mark.parametrize("channel", [None, 1])
def test_channels_and_times_are_labelled_alone(tmp_path, channel):
    movie = RNG.integers(0, 2, (3, 2, 6, 7, 8)).astype(np.uint16)
    image = write_image(tmp_path / "image.zarr", movie, "tczyx", chunks=(1, 1, 4, 4, 8))
    chosen = movie if channel is None else movie[:, 1:2]
    count = conncomp.label_file(
        image, image / "labels" / "parts", channel=channel, largest=2, min_size=2
    )
    labels = conncomp.label(chosen, batch_axes=2)
    labels = conncomp.remove_small_components(labels, 2, batch_axes=2)
    labels = conncomp.largest_components(labels, 2, batch_axes=2)
    arrays = arrays_of(image / "labels" / "parts")
    np.testing.assert_array_equal(arrays[0][...], labels)
    assert count == np.count_nonzero(conncomp.component_sizes(labels, batch_axes=2))
    assert [array.shape[:2] for array in arrays] == [chosen.shape[:2]] * 3
    models.open_ome_zarr(zarr.open_group(str(image / "labels" / "parts"), mode="r"))
    # Without any chunk's bounds between what is linked, too.
    whole = write_image(tmp_path / "whole.zarr", movie, "tczyx", chunks=(1, 1, 6, 7, 8))
    assert count == conncomp.label_file(
        whole, tmp_path / "w.zarr", channel=channel, largest=2, min_size=2
    )
    np.testing.assert_array_equal(arrays_of(tmp_path / "w.zarr")[0][...], labels)


def test_an_image_in_a_group_and_an_array_of_an_image(tmp_path):
    zarr.create_group(store=str(tmp_path / "all.zarr"))
    write_image(tmp_path / "all.zarr" / "0", VOLUME, "zyx", chunks=(4, 5, 6))
    conncomp.label_file(tmp_path / "all.zarr", tmp_path / "l.zarr", key="0")
    conncomp.label_file(tmp_path / "all.zarr", tmp_path / "m.npy", key="0/s1")
    np.testing.assert_array_equal(arrays_of(tmp_path / "l.zarr")[0][...], conncomp.label(VOLUME))
    np.testing.assert_array_equal(
        np.load(tmp_path / "m.npy"), conncomp.label(VOLUME[::2, ::2, ::2])
    )
    for key, words in [
        (None, r"choose one of it by key= \('0'\)"),
        ("1", r"holds no array key='1'; choose one of it by key= \('0'\)"),
        ("../x", "'../x' is no path within"),
        ("0/s9", "holds no array"),
    ]:
        with pytest.raises(ValueError, match=words):
            conncomp.label_file(tmp_path / "all.zarr", tmp_path / "n.zarr", key=key)


@pytest.mark.parametrize("stop", [1, 20, 40, 54, 58, 62])
def test_goes_on_in_all_resolutions(tmp_path, monkeypatch, stop):
    """What is written is not written again, whenever a run is stopped."""
    image = write_image(tmp_path / "image.zarr", VOLUME, "zyx", chunks=(4, 5, 6))
    target = image / "labels" / "parts"
    written = []
    for name in ("write", "reduce"):
        function = getattr(OmeTarget, name)

        def counting(self, *arguments, function=function):
            function(self, *arguments)
            written.append(arguments)

        monkeypatch.setattr(OmeTarget, name, counting)

    def stopping(done, total):
        if done == stop:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        conncomp.label_file(image, target, progress=stopping)
    assert not target.exists()
    conncomp.label_file(image, target)
    assert len(written) == 27 + 8 + 1
    wanted = conncomp.label(VOLUME)
    for k, array in enumerate(arrays_of(target)):
        np.testing.assert_array_equal(array[...], wanted[:: 2**k, :: 2**k, :: 2**k])


def test_killed_while_labels_get_their_name(tmp_path, monkeypatch):
    image = write_image(tmp_path / "image.zarr", VOLUME, "zyx", chunks=(4, 5, 6))
    target = image / "labels" / "parts"
    for module, name in ((ome_zarr, "list_label"), (writing, "remove_kept")):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                conncomp.label_file(image, target)
        assert target.exists()
    assert conncomp.label_file(image, target) == int(conncomp.label(VOLUME).max())
    assert dict(zarr.open_group(str(target.parent), mode="r").attrs)["ome"]["labels"] == ["parts"]
    assert sorted(os.listdir(target.parent)) == ["parts", "zarr.json"]
    with pytest.raises(FileExistsError):
        conncomp.label_file(image, target)


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_labels_that_are_listed_at_once(tmp_path, monkeypatch, version):
    """Whoever reads the list of an image's labels writes it before others read it."""
    image = write_image(tmp_path / "image.zarr", VOLUME, "zyx", version, levels=1)
    (image / "labels").mkdir()
    open_group = zarr.open_group

    def slow(*given, **options):
        group = open_group(*given, **options)
        dict(group.attrs)
        time.sleep(0.05)
        return group

    names = [f"n{k}" for k in range(4)]
    with opened_volume(str(image)) as opened, ThreadPoolExecutor(4) as pool:
        monkeypatch.setattr(zarr, "open_group", slow)
        list(pool.map(lambda name: list_label(opened, name), names))
        monkeypatch.setattr("fcntl.flock", lambda *_: os.stat(tmp_path / "no locks here"))
        list_label(opened, "without")
    attributes = dict(open_group(str(image / "labels"), mode="r").attrs)
    listed = attributes.get("ome", attributes)["labels"]
    assert sorted(listed) == [*names, "without"]
    assert not set(os.listdir(image / "labels")) - {"zarr.json", ".zgroup", ".zattrs"}


def changed(path, **parts):
    image = write_image(path, VOLUME, "zyx")
    group = zarr.open_group(str(image), mode="r+")
    ome = dict(group.attrs["ome"])
    scales = {**ome["multiscales"][0], **{k: v for k, v in parts.items() if k != "version"}}
    group.attrs["ome"] = {**ome, "multiscales": [scales], "version": parts.get("version", "0.5")}
    return image


SCALE = [{"type": "scale", "scale": [1, 1, 1]}]


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"version": "0.3"}, "is OME-Zarr of version 0.3, and 0.4 and 0.5 are read"),
        ({"version": None}, "is OME-Zarr of version None"),
        ({"axes": []}, "not of which axes and datasets"),
        ({"axes": ["z", "y", "x"]}, "not of which axes"),
        ({"axes": [{"name": "y", "type": "space"}]}, r"has axes \['y'\], but arrays of shapes"),
        ({"axes": [{"name": n} for n in "zyc"]}, "has axes space, space, channel; they must be"),
        ({"axes": [{"name": n} for n in "tcu"]}, r"has axes time, channel, \?"),
        ({"axes": [{"name": n} for n in "ttc"]}, "has axes time, time, channel"),
        ({"datasets": 5}, "not of which axes and datasets"),
        ({"datasets": [{"path": "s7"}]}, "says that it has an array 's7', which is not there"),
        ({"datasets": [{"path": "../../x"}]}, "'../../x' is no path within"),
        ({"datasets": [{"path": "s0"}] * 100}, "says that it has 100 resolutions"),
    ],
)
def test_images_that_are_none(tmp_path, parts, words):
    image = changed(tmp_path / "image.zarr", **parts)
    with pytest.raises(ValueError, match=rf"image\.zarr: .*{words}"):
        conncomp.label_file(image, tmp_path / "l.zarr")
    assert os.listdir(tmp_path) == ["image.zarr"]


def test_channels_that_are_not_there(tmp_path):
    image = write_image(tmp_path / "image.zarr", VOLUME, "zyx")
    with pytest.raises(ValueError, match="channel=0 has no meaning"):
        conncomp.label_file(image, tmp_path / "l.zarr", channel=0)
    image = write_image(tmp_path / "colours.zarr", VOLUME, "cyx")
    with pytest.raises(ValueError, match="has 12 channels: channel=12 must be 0 to 11"):
        conncomp.label_file(image, tmp_path / "l.zarr", channel=12)


def test_programs_are_not_run(tmp_path):
    """A pickle in the place of a chunk's packing is refused before a chunk is read."""
    source = tmp_path / "v.zarr"
    zarr.create_array(store=str(source), shape=(4,), chunks=(2,), dtype="u1", zarr_format=2)
    metadata = json.loads((source / ".zarray").read_text())
    for packing in ({"filters": [{"id": "pickle"}]}, {"compressor": {"id": "pickle"}}):
        (source / ".zarray").write_text(json.dumps(metadata | packing))
        with pytest.raises(ValueError, match=r"v\.zarr: "):
            conncomp.label_file(source, tmp_path / "l.zarr")


@pytest.mark.parametrize(("fine", "coarse"), [(8, 4), (9, 5), (9, 4), (7, 7), (3, 1), (2, 5)])
def test_nearest(fine, coarse):
    """Of all places the nearest one, by the distance of centres."""
    centres = (np.arange(coarse) + 0.5) * fine / coarse - 0.5
    distances = abs(centres[:, None] - np.arange(fine))
    found = nearest(slice(0, coarse), fine, coarse)
    np.testing.assert_allclose(distances[np.arange(coarse), found], distances.min(axis=1))
