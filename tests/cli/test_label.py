import csv
import gzip
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import PIL.Image
import pytest
import tifffile
from skimage.color import rgb2gray
from skimage.filters import threshold_otsu

import conncomp
from cli.test_command import check_failure
from conncomp.files import thresholds
from conncomp.files.thresholds import above, otsu
from reference import consecutive, label_by_flood_fill

IMAGE = np.random.default_rng(1).integers(0, 3, (9, 11, 13)).astype(np.uint8)
LABELS = consecutive(label_by_flood_fill(IMAGE), 1)
DATA = Path(__file__).parents[2].parent / "shared" / "data"


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(autouse=True)
def _image(tmp_path):
    conncomp.write_image(tmp_path / "image.npy", IMAGE)


@pytest.mark.parametrize("name", ["out.npy", "out.npz", "out.tif"])
def test_writes_labels(report, name):
    found = report("label", "image.npy", "-o", name)
    labels, count = conncomp.label(IMAGE, return_num=True)
    np.testing.assert_array_equal(conncomp.read_image(name), labels)
    assert found["components"] == count
    assert found["written"]["labels"] == name


def test_report_is_what_the_library_says(report):
    found = report("label", "image.npy", "--connectivity", 1, "--threads", 1)
    labels, count = conncomp.label(IMAGE, return_num=True, connectivity=1)
    sizes = conncomp.component_sizes(labels)
    assert found["input"] == {"path": "image.npy", "shape": [9, 11, 13], "dtype": "uint8"}
    assert (found["connectivity"], found["components"], found["threads"]) == (1, count, 1)
    assert found["periodic"] == [False] * 3
    assert found["largest"] == [{"label": int(sizes.argmax()), "size": int(sizes.max())}]
    assert found["foreground"] == sizes.sum() == np.count_nonzero(IMAGE)
    assert found["elements_per_second"] == IMAGE.size / found["seconds"]["labelling"]
    for part in found["sizes"]:
        inside = sizes[(sizes >= part["from"]) & (sizes <= part["to"])]
        assert (part["components"], part["elements"]) == (len(inside), inside.sum())
    assert sum(part["components"] for part in found["sizes"]) == count


@pytest.mark.parametrize(
    ("text", "axes"),
    [
        ("all", True),
        ("none", False),
        ("0,2", (True, False, True)),
        ("1", (False, True, False)),
        ("-1", (False, False, True)),
        ("true, false, True", (True, False, True)),
    ],
)
def test_periodic(report, text, axes):
    found = report("label", "image.npy", "--periodic", text, "--connectivity", 1)
    count = conncomp.label(IMAGE, periodic=axes, connectivity=1, return_num=True)[1]
    assert found["components"] == count
    assert found["periodic"] == list(np.broadcast_to(axes, 3))


@pytest.mark.parametrize("background", [1, -1, 2.0, 10**300, -(10**300), 1e300, "inf"])
def test_background(report, background):
    found = report("label", "image.npy", "--background", background, "-o", "o.npy")
    count = conncomp.label(IMAGE, background=float(background), return_num=True)[1]
    assert (found["components"], found["background"]) == (count, background)


@pytest.mark.parametrize("background", ["7", "-1", "0.5", "nan", "inf"])
@pytest.mark.parametrize("threshold", ["1", "otsu"])
def test_backgrounds_that_no_threshold_leaves(run, background, threshold):
    """Otherwise all elements are foreground, without a word."""
    words = f"--background {background}: with --threshold the image has the values 0 and 1 only"
    given = "--threshold", threshold, "--background", background
    assert words in check_failure(run("label", "image.npy", *given))


@pytest.mark.parametrize("background", ["0", "1", "1.0"])
def test_background_of_a_threshold(report, background):
    found = report("label", "image.npy", "--threshold", "1", "--background", background)
    above = IMAGE > 1
    count = conncomp.label(above, background=float(background), return_num=True)[1]
    assert found["components"] == count
    assert found["foreground"] == np.count_nonzero(above != float(background))


def test_nan_can_be_background(report):
    conncomp.write_image("nan.npy", np.array([1.0, np.nan, 1.0]))
    found = report("label", "nan.npy", "--background", "nan")
    assert (found["components"], found["background"]) == (2, "nan")


def test_top_and_min_size_keep_labels(report):
    labels = conncomp.label(IMAGE, connectivity=1)
    kept = conncomp.largest_components(conncomp.remove_small_components(labels, 3), 4)
    found = report(
        "label", "image.npy", "--connectivity", 1, "--top", 4, "--min-size", 3, "-o", "o.npy"
    )
    np.testing.assert_array_equal(conncomp.read_image("o.npy"), kept)
    assert found["components"] == labels.max()
    assert found["kept"] == {"components": 4, "elements": np.count_nonzero(kept)}
    sizes = conncomp.component_sizes(kept)
    assert [row["size"] for row in found["largest"]] == sorted(sizes, reverse=True)[:4]
    assert all(sizes[row["label"]] == row["size"] for row in found["largest"])


@pytest.mark.parametrize("options", [(), ("--top", 3), ("--min-size", 10**6)])
def test_statistics(report, options):
    report("label", "image.npy", "--connectivity", 1, *options, "--stats", "s.csv", "-o", "o.npy")
    stats = conncomp.component_statistics(conncomp.read_image("o.npy"))
    rows = rows_of("s.csv")
    header = Path("s.csv").read_text().splitlines()[0].split(",")
    assert header[:5] == ["label", "num_pixels", "bbox-0", "bbox-1", "bbox-2"]
    assert len(header) == 2 + 2 * 3 + 3 + 6 + 3
    spans = conncomp.component_spans(conncomp.read_image("o.npy"))
    assert len(rows) == len(stats.labels)
    for k, row in enumerate(rows):
        assert int(row["label"]) == stats.labels[k]
        assert int(row["num_pixels"]) == stats.sizes[k]
        for axis in range(3):
            assert int(row[f"spans-{axis}"]) == spans[stats.labels[k], axis]
            begin, end = stats.bounding_boxes[k, axis]
            assert (int(row[f"bbox-{axis}"]), int(row[f"bbox-{3 + axis}"])) == (begin, end)
            assert float(row[f"centroid-{axis}"]) == stats.centroids[k, axis]
            for other in range(axis, 3):
                assert float(row[f"moment-{axis}-{other}"]) == stats.moments[k, axis, other]


def test_statistics_by_spacing(report):
    spacing = "2,0.5,1e-3"
    report("label", "image.npy", "--stats", "s.csv", "--spacing", spacing, "-o", "o.npy")
    stats = conncomp.component_statistics(
        conncomp.read_image("o.npy"), spacing=tuple(map(float, spacing.split(",")))
    )
    rows = rows_of("s.csv")
    for k, row in enumerate(rows):
        assert float(row["area"]) == stats.volumes[k]
        assert float(row["centroid-2"]) == stats.centroids[k, 2]
        assert float(row["moment-0-1"]) == stats.moments[k, 0, 1]
    assert len(rows) == len(stats.labels)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--spacing 1,1,1", "--spacing is for --stats; give both"),
        ("--stats s.csv --spacing 1,2", "--spacing has 2 lengths; the image has 3 axes"),
        ("--stats s.csv --spacing 1,2,x", "is not a positive, finite number for each"),
        ("--stats s.csv --spacing 1,inf,1", "is not a positive, finite number for each"),
        ("--stats s.csv --spacing 1,1e300,1", "volumes and moments have no room"),
        ("--stats s.csv --spacing 1,1e-320,1", "volumes and moments have no room"),
    ],
)
def test_spacings_that_have_no_meaning(run, arguments, words):
    assert words in check_failure(run("label", "image.npy", *arguments.split()))


def test_statistics_of_periodic_axes(report):
    options = "--connectivity 1 --periodic 0,2 --top 3 --stats s.csv -o o.npy"
    report("label", "image.npy", *options.split())
    wrapping = conncomp.component_wrapping(IMAGE, connectivity=1, periodic=(True, False, True))
    rows = rows_of("s.csv")
    assert len(rows) == 3
    for row in rows:
        axes = [row[f"wraps-{axis}"] == "1" for axis in range(3)]
        assert axes == wrapping.axes[int(row["label"]) - 1].tolist()


def test_threshold(report):
    count = conncomp.label(IMAGE > 1, return_num=True)[1]
    assert report("label", "image.npy", "--threshold", "1")["components"] == count
    dark = conncomp.label(IMAGE <= 1, return_num=True)[1]
    found = report("label", "image.npy", "--threshold", "1.5", "--background", "1")
    assert (found["components"], found["threshold"]) == (dark, 1.5)


def test_threshold_of_large_integers_is_exact(report):
    conncomp.write_image("large.npy", np.array([2**60, 0, 2**60 + 1]))
    assert report("label", "large.npy", "--threshold", 2**60)["components"] == 1


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int16])
def test_otsu_agrees_with_skimage(report, dtype):
    rng = np.random.default_rng(2)
    image = np.concatenate([rng.normal(60, 20, 3000), rng.normal(160, 30, 2000)])
    image = image.clip(0, 255).astype(dtype).reshape(50, 100)
    assert otsu(image) == threshold_otsu(image)
    conncomp.write_image("grey.tif", image)
    found = report("label", "grey.tif", "--threshold", "otsu")
    assert found["threshold"] == threshold_otsu(image)
    assert found["components"] == conncomp.label(image > found["threshold"], return_num=True)[1]


def test_otsu_of_floats_is_exact():
    values = np.random.default_rng(3).random(60).astype(np.float32)

    def between(threshold):
        low, high = values[values <= threshold], values[values > threshold]
        return len(low) * len(high) * (low.mean(dtype=float) - high.mean(dtype=float)) ** 2

    best = max(np.sort(values)[:-1], key=between)
    assert otsu(np.append(values, [np.nan, np.inf])) == best
    assert otsu(np.full(5, 7)) == 7


@pytest.mark.parametrize(
    ("shape", "shown", "size"),
    [
        ((30, 40), [], (30, 40)),
        ((5, 30, 40), [2], (30, 40)),
        ((4, 5, 6, 7), [2, 2], (6, 7)),
        ((50,), [], (32, 50)),
        ((3, 4001), [], (1, 1334)),
    ],
)
def test_picture(report, shape, shown, size):
    image = np.random.default_rng(4).random(shape) < 0.4
    conncomp.write_image("i.npy", image)
    found = report("label", "i.npy", "--connectivity", 1, "--picture", "p.png", "-o", "o.npy")
    picture = conncomp.read_image("p.png")
    assert picture.shape == (*size, 3)
    assert found["written"]["picture"]["slice"] == shown
    step = found["written"]["picture"]["step"]
    plane = conncomp.read_image("o.npy")[tuple(shown)]
    plane = np.broadcast_to(plane[(slice(None, None, step),) * plane.ndim], size)
    np.testing.assert_array_equal(picture.any(axis=2), plane > 0)
    for there, here in ((plane[:, 2:], plane[:, :-2]), (plane[2:], plane[:-2])):
        along = 1 if there.shape[1] < plane.shape[1] else 0
        a, b = (np.take(picture, np.arange(n, n + here.shape[along]), along) for n in (2, 0))
        apart = (there != here) & (there > 0) & (here > 0)
        assert (a != b).any(axis=2)[apart].all()


def test_picture_of_a_slice_without_background_or_with_nothing_else(report):
    for value in (0, 1):
        conncomp.write_image("i.npy", np.full((3, 3), value, np.uint8))
        report("label", "i.npy", "--picture", "p.png")
        assert conncomp.read_image("p.png").any() == value


@pytest.mark.parametrize("shape", [(0, 3), (2, 2)])
def test_nothing_to_label(report, run, shape):
    conncomp.write_image("empty.npy", np.zeros(shape, np.uint8))
    found = report("label", "empty.npy", "-o", "o.npy", "--stats", "s.csv")
    assert (found["components"], found["largest"], found["sizes"]) == (0, [], [])
    assert len(Path("s.csv").read_text().splitlines()) == 1
    assert "largest       none" in run("label", "empty.npy").stdout


def test_key(report):
    np.savez("two.npz", a=IMAGE, b=IMAGE > 1)
    found = report("label", "two.npz", "--key", "b")
    assert found["components"] == conncomp.label(IMAGE > 1, return_num=True)[1]


def test_table(run):
    result = run(
        *("label", "image.npy", "--top", 2, "--connectivity", 1, "--periodic", "0,2"),
        *("--picture", "[red]p.png", "--threshold", "0", "--threads", 1),
    )
    assert (result.exit_code, result.stderr) == (0, "")
    lines = {" ".join(line.split()) for line in result.stdout.splitlines()}
    assert {
        "input image.npy",
        "shape 9 x 11 x 13, uint8",
        "connectivity 1 (6 neighbours)",
        "periodic axes 0, 2",
        "threshold above 0",
        "picture [red]p.png (index 4 of axis 0)",
        "size components elements share",
    } <= lines
    assert any(line.startswith("kept 2 with") for line in lines)
    assert any(line.endswith("elements/s with 1 thread") for line in lines)


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.float32, np.float64, np.longdouble])
def test_thresholds_are_compared_exactly(dtype):
    numbers = [-(2**60), -1, 0, 1, 2**24, 2**53, 2**60, 2**60 + 256, 2**63 - 1]
    info = np.iinfo(dtype) if np.issubdtype(dtype, np.integer) else None
    image = np.array([n for n in numbers if info is None or info.min <= n <= info.max], dtype)
    exact = [int(value) for value in image]
    thresholds = [0.5, -1.5, 2**24 + 1, 2**53 + 1, 2**60 + 200, 2**60 + 1, 10**300, -(10**300)]
    for threshold in [*thresholds, *numbers, 1e300, 3.4e38]:
        expected = [value > threshold for value in exact]
        assert above(image, threshold).tolist() == expected


def test_thresholds_and_infinity():
    image = np.array([np.inf, -np.inf, np.nan, 3e38], np.float32)
    assert above(image, 1e300).tolist() == [True, False, False, False]
    assert above(image, -(10**300)).tolist() == [True, False, False, True]


@pytest.mark.parametrize("dtype", [np.longdouble, np.float64, np.float16])
def test_otsu_of_numbers_near_the_largest(report, dtype):
    large = np.finfo(dtype).max
    np.save("large.npy", np.array([large, large / 2, 0, -large / 2, -large], dtype))
    found = report("label", "large.npy", "--threshold", "otsu")
    assert found["components"] == 1
    assert report("label", "large.npy", "--threshold", "otsu", "-o", "o.npy")["components"] == 1
    np.save("small.npy", np.array([1, 2, 9], dtype))
    assert report("label", "small.npy", "--threshold", "otsu")["threshold"] == 2


RGB = np.random.default_rng(5).integers(0, 256, (12, 13, 3)).astype(np.uint8)


@pytest.mark.parametrize("name", ["rgb.tif", "rgb.png", "planar.tif"])
def test_channel_and_grey(report, run, name):
    image = RGB
    if name == "planar.tif":
        image = np.ascontiguousarray(np.moveaxis(RGB, 2, 0))
        tifffile.imwrite(name, image, photometric="rgb", planarconfig="separate")
    else:
        conncomp.write_image(name, RGB)
    refused = check_failure(run("label", name, "-o", "o.npy"))
    assert "is in colour or has several channels" in refused
    assert "--channel 0 to 2, or --grey" in refused
    report("label", name, "--channel", 1, "-o", "o.npy")
    np.testing.assert_array_equal(np.load("o.npy"), conncomp.label(RGB[..., 1]))
    report("label", name, "--grey", "--threshold", 99, "-o", "o.npy")
    grey = np.rint(255 * rgb2gray(RGB)).astype(np.uint8)
    np.testing.assert_array_equal(np.load("o.npy"), conncomp.label(grey > 99))


def test_grey_leaves_opacity_out(report):
    PIL.Image.fromarray(RGB[..., :2]).save("la.png")
    report("label", "la.png", "--grey", "-o", "o.npy")
    np.testing.assert_array_equal(np.load("o.npy"), conncomp.label(RGB[..., 0]))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("image.npy --channel 0", "image.npy: does not say that it has channels, so --channel"),
        ("image.npy --grey", "so --grey has no meaning"),
        ("rgb.png --channel 3", "--channel 3 must be from 0 to 2"),
        ("many.tif --grey", "--grey is for colours, but there are 5 channels"),
        ("two.tif --grey", "--grey is for colours, but there are 2 channels"),
    ],
)
def test_channels_that_are_not_there(run, arguments, words):
    conncomp.write_image("rgb.png", RGB)
    many = np.zeros((5, 12, 13), np.uint8)
    axes = {"axes": "CYX"}
    tifffile.imwrite("many.tif", many, ome=True, photometric="minisblack", metadata=axes)
    tifffile.imwrite("two.tif", many[:2], ome=True, photometric="minisblack", metadata=axes)
    assert words in check_failure(run("label", *arguments.split()))


@pytest.mark.parametrize("shape", [(0, 4, 4), (4, 0, 4), (4, 4, 0), (0,)])
@pytest.mark.parametrize("option", ["--picture", "-o"])
def test_nothing_to_draw(run, shape, option):
    conncomp.write_image("empty.npy", np.zeros(shape, np.uint8))
    line = check_failure(run("label", "empty.npy", "--stats", "s.csv", option, "p.png"))
    assert "p.png: " in line
    assert not Path("s.csv").exists()


def test_bounds_beyond_every_size(report):
    found = report("label", "image.npy", "--top", 10**30, "--min-size", 1)
    assert found["kept"]["components"] == found["components"]
    assert report("label", "image.npy", "--min-size", 10**30)["kept"]["components"] == 0


def test_pipe_and_compressed_input(report):
    Path("image.npy.gz").write_bytes(gzip.compress(Path("image.npy").read_bytes()))
    Path("plain").write_bytes(Path("image.npy").read_bytes())
    count = conncomp.label(IMAGE, return_num=True)[1]
    for name in ("image.npy.gz", "plain"):
        assert report("label", name)["components"] == count
    with open("image.npy", "rb") as file:
        result = subprocess.run(
            [sys.executable, "-c", FROM_PIPE], input=file.read(), capture_output=True, timeout=60
        )
    assert (result.returncode, result.stderr) == (0, b"")
    assert json.loads(result.stdout)["components"] == count


FROM_PIPE = """
import sys
from conncomp.cli import main
sys.argv = ["conncomp", "label", "/dev/stdin", "--json"]
main()
"""


@pytest.mark.skipif(not DATA.is_dir(), reason="the folder ../shared/data is absent")
def test_brain_tissue(report):
    found = report("label", DATA / "connectomics-512x512x256.npz", "--connectivity", 2)
    assert found["components"] == 1619


@pytest.mark.parametrize("dtype", [">i4", np.longdouble])
def test_values_that_a_gpu_does_not_have(report, gpu, dtype):
    np.save("image.npy", IMAGE.astype(dtype))
    report("label", "image.npy", "--device", "cuda", "-o", "out.npy")
    assert gpu.count("move") == (dtype == ">i4")
    np.testing.assert_array_equal(np.load("out.npy"), LABELS)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 5, 1000, 1 << 20])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_values_are_counted(size, dtype):
    image = np.random.default_rng(size).integers(0, 256, size).astype(dtype)
    values, counts = thresholds._counted(image[:, None])
    expected = np.unique(image, return_counts=True)
    np.testing.assert_array_equal(values, expected[0])
    np.testing.assert_array_equal(counts, expected[1])
    assert values.dtype == dtype


def test_pictures_have_the_proportions_of_voxels(report):
    about = {"axes": "ZYX", "spacing": 3, "unit": "um"}
    tifffile.imwrite("a.tif", IMAGE, imagej=True, resolution=(2, 1), metadata=about)
    report("label", "a.tif", "--picture", "a.png")
    assert conncomp.read_image("a.png").shape == (22, 13, 3)
    report("label", "a.tif", "--picture", "b.png", "--spacing", "1,1,2", "--stats", "a.csv")
    assert conncomp.read_image("b.png").shape == (11, 26, 3)
