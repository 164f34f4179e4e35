"""What is measured as labels and looks like intensities is told; labels of any kind are not."""

import json

import numpy as np
import pytest
import skimage.data
import tifffile
import zarr
from skimage import filters, segmentation

import conncomp

RNG = np.random.default_rng(3)


def sparse(labels, share):
    """Keep some of the labels, by their old numbers."""
    kept = RNG.random(labels.max() + 1) < share
    kept[0] = False
    return np.where(kept[labels], labels, 0)


def markers(count, largest):
    image = np.zeros(200 * 200, int)
    image[RNG.choice(len(image), count, replace=False)] = RNG.integers(1, largest, count)
    return image.reshape(200, 200)


def raw():
    coins, cell = skimage.data.coins(), skimage.data.cell()
    blurred = filters.gaussian(coins.astype(float), 1)
    yield "8 bits", coins
    yield "smooth", cell
    yield "dark", np.clip(RNG.normal(30, 3, (99, 99)), 0, None).astype(np.uint8)
    yield "16 bits", (blurred * 100).astype(np.uint16)
    yield "32 bits", (blurred * 1e3).astype(np.int32)
    yield "noise", RNG.integers(0, 65535, (20, 20))
    yield "photons", RNG.poisson(filters.gaussian(RNG.random((99, 99)), 8) * 3000)
    yield "volume", RNG.normal(1000, 20, (8, 40, 40)).astype(np.int16)
    spots = np.zeros((200, 200))
    spots[tuple(RNG.integers(0, 200, (2, 60)))] = 1e5
    yield "spots", filters.gaussian(spots, 4).astype(np.uint16)


def labelled():
    coins = skimage.data.coins()
    objects = conncomp.label(filters.gaussian(coins, 1) > 0.4)
    tiles = segmentation.slic(skimage.data.astronaut()[:200, :200], n_segments=4000, start_label=1)
    basins = segmentation.watershed(filters.sobel(coins))
    noise = RNG.random((150, 150)) < 0.4
    clusters = conncomp.label(noise, connectivity=1)
    yield "objects", objects
    yield "mask", noise * 255
    yield "few of them", sparse(objects, 0.3)
    yield "superpixels", tiles
    yield "few superpixels", sparse(tiles, 0.05)
    yield "basins", basins
    yield "half of them", sparse(basins, 0.5)
    yield "clusters", clusters
    yield "clusters that are kept", sparse(clusters, 0.3)
    yield "roots", conncomp.label(noise, connectivity=1, numbering="roots") + 1
    yield "large ones", conncomp.remove_small_components(clusters, 20)
    yield "markers", markers(300, 30_000)
    yield "markers of classes", markers(4000, 5)
    yield "classes", RNG.integers(0, 30, (9, 9)).repeat(20, 0).repeat(20, 1)
    yield "lines", np.tile(np.arange(1, 200) * 7, (200, 1))
    yield "squares", RNG.permutation(10**6)[:4900].reshape(70, 70).repeat(2, 0).repeat(2, 1) + 1
    yield "elements", np.arange(1, 10_001).reshape(100, 100)
    yield "nothing", np.zeros((20, 20), int)


RAW, LABELLED = dict(raw()), dict(labelled())


def measure(run, image, *more, suffix="npy"):
    name = f"a.{suffix}"
    if suffix == "zarr":
        zarr.create_array(name, data=image, chunks=tuple(max(1, n // 2) for n in image.shape))
        more += ("--memory", "8G")
    else:
        conncomp.write_image(name, image)
    result = run("measure", name, "-o", "c.csv", "--json", *more)
    assert result.exit_code == 0
    return result, json.loads(result.stdout)["files"][0]


@pytest.mark.parametrize("suffix", ["npy", "zarr"])
@pytest.mark.parametrize("name", RAW)
def test_intensities_are_told(run, name, suffix):
    result, about = measure(run, RAW[name], suffix=suffix)
    assert f"conncomp: a.{suffix}: looks like intensities, not labels" in result.stderr
    assert "give --threshold, such as otsu" in result.stderr
    assert result.stderr.count("\n") == 1
    assert about["doubt"] in result.stderr


@pytest.mark.parametrize("suffix", ["npy", "zarr"])
@pytest.mark.parametrize("name", LABELLED)
def test_labels_are_not(run, name, suffix):
    result, about = measure(run, LABELLED[name], suffix=suffix)
    assert (result.stderr, about["doubt"]) == ("", None)


def test_thresholds_are_not_doubted(run):
    assert measure(run, RAW["16 bits"], "--threshold", "otsu")[0].stderr == ""


def test_channels_films_and_files_that_go_on(run):
    """The warning is kept with the table of a file."""
    film = np.stack([RAW["16 bits"], RAW["16 bits"][::-1]])
    tifffile.imwrite("a.ome.tif", film[:, None].repeat(2, 1), metadata={"axes": "TCYX"})
    words = "measure", "a.ome.tif", "missing.npy", "--channel", 0, "-o", "c.csv"
    for more in ([], ["--resume"]):
        result = run(*words, *more) if more else run(*words)
        assert "looks like intensities" in result.stderr or "missing.npy" in result.stderr
    tifffile.imwrite("b.ome.tif", film, metadata={"axes": "TYX"})
    assert "looks like intensities" in run("measure", "b.ome.tif", "-o", "d.csv").stderr


@pytest.mark.parametrize("suffix", ["npy", "tif", "zarr", "h5", "stats"])
@pytest.mark.parametrize("fractions", [True, False])
def test_fractions_are_told_where_they_are_labelled(run, suffix, fractions):
    image = RNG.normal(0, 3, (20, 22)).astype(np.float32)
    image = image if fractions else np.rint(image)
    words = ["-o", "o.npy"]
    name = f"a.{suffix}"
    if suffix == "zarr":
        zarr.create_array(name, data=image)
    elif suffix == "h5":
        import h5py

        with h5py.File(name, "w") as file:
            file["a"] = image
    else:
        name, words = ("a.npy", ["--stats-only"]) if suffix == "stats" else (name, words)
        conncomp.write_image(name, image)
    result = run("label", name, *words)
    assert result.exit_code == 0
    assert ("holds fractions, of dtype float32" in result.stderr) == fractions
    if fractions:
        assert "--threshold 0 for what is > 0" in result.stderr
        assert ".astype(int)" in result.stderr
    else:
        assert result.stderr == ""
    words = words if suffix == "stats" else ["-o", "p.npy"]
    assert run("label", name, *words, "--threshold", 0).stderr == ""
