"""Pages to look at labels with: what is in them, and that nothing else gets in.

What the script does was looked at in a browser; here its data are read as it reads them.
"""

import re

import numpy as np
import pytest

import conncomp
from conncomp._terminal import printable
from conncomp.components.colouring import as_shades
from conncomp.io import view
from view_page import ViewPage

RNG = np.random.default_rng(3)
VOLUME = conncomp.label(RNG.random((7, 8, 9)) < 0.3, connectivity=1)


@pytest.fixture
def write(tmp_path):
    def write(*arguments, **options):
        path = tmp_path / "page.html"
        conncomp.write_view(path, *arguments, **options)
        return ViewPage(path)

    return write


@pytest.mark.parametrize(
    ("labels", "shape"),
    [
        (VOLUME, (7, 8, 9)),
        (VOLUME[3], (1, 8, 9)),
        (VOLUME[:, :1], (1, 7, 9)),
        (VOLUME.reshape(7, 1, 8, 1, 9), (7, 8, 9)),
        (VOLUME.astype(np.uint16)[::-1, :, ::2], (7, 8, 5)),
        (VOLUME * 0, (7, 8, 9)),
        (np.ones((1, 1), int), (1, 1, 1)),
    ],
)
def test_labels_are_in_the_page(write, labels, shape):
    page = write(labels)
    assert tuple(page.about["shape"]) == shape
    np.testing.assert_array_equal(page.labels(), labels.reshape(shape))


@pytest.mark.parametrize(("count", "size"), [(255, 1), (256, 2), (65535, 2), (65536, 4)])
def test_as_many_bytes_as_needed(write, count, size):
    labels = np.arange(256 * 257).reshape(256, 257).clip(0, count)
    page = write(labels)
    assert page.about["bytes"] == size
    np.testing.assert_array_equal(page.labels(), labels[None])


def test_components_are_described(write):
    page = write(VOLUME)
    statistics = conncomp.component_statistics(VOLUME)
    np.testing.assert_array_equal(page.column("labels"), statistics.labels)
    np.testing.assert_array_equal(page.column("sizes"), statistics.sizes)
    np.testing.assert_array_equal(page.column("boxes", 3, 2), statistics.bounding_boxes)
    np.testing.assert_array_equal(page.column("centroids", 3), statistics.centroids)
    colours = page.unpacked("colours", np.uint8).reshape(-1, 3)
    np.testing.assert_array_equal(colours[page.volume()], conncomp.colour_components(VOLUME))


def test_a_part(write):
    part = np.s_[1:6:2, ::3, -4:]
    page = write(VOLUME, VOLUME, part=part)
    np.testing.assert_array_equal(page.labels(), VOLUME[part])
    np.testing.assert_array_equal(page.volume("image"), as_shades(VOLUME, None)[part])
    for axis, (begin, step, length) in enumerate([(1, 2, 3), (0, 3, 3), (5, 1, 4)]):
        assert page.about["axes"][axis] == {"begin": begin, "step": step, "length": length}
    # Components are those of all labels, but only those that are shown.
    statistics = conncomp.component_statistics(VOLUME)
    is_shown = np.isin(statistics.labels, VOLUME[part])
    assert 0 < is_shown.sum() < len(is_shown)
    np.testing.assert_array_equal(page.column("labels"), statistics.labels[is_shown])
    np.testing.assert_array_equal(page.column("sizes"), statistics.sizes[is_shown])


def test_a_part_of_many_axes(write):
    labels = np.stack([VOLUME, VOLUME[::-1]])
    page = write(labels, part=np.s_[1:2, :, :, :])
    np.testing.assert_array_equal(page.labels(), VOLUME[::-1])
    assert len(page.about["axes"]) == 4


@pytest.mark.parametrize("channels", [(), (3,)])
def test_an_image(write, channels):
    image = RNG.random((*VOLUME.shape, *channels))
    page = write(VOLUME, image)
    np.testing.assert_array_equal(page.volume("image"), as_shades(image, None))
    page = write(VOLUME, image, value_range=(0.2, 0.6))
    np.testing.assert_array_equal(page.volume("image"), as_shades(image, (0.2, 0.6)))


def test_backgrounds_and_masks(write):
    roots = conncomp.label(VOLUME > 0, numbering="roots")
    np.testing.assert_array_equal(write(roots, background=-1).labels(-1), roots)
    page = write(VOLUME, background=None)
    np.testing.assert_array_equal(page.labels(), VOLUME)
    assert page.volume().all()
    masked = np.ma.array(VOLUME, mask=VOLUME == 2)
    np.testing.assert_array_equal(write(masked).labels(), masked.filled(0))


def test_the_page_is_on_its_own(write):
    page = write(VOLUME, VOLUME)
    assert not re.search("https?:|//[a-z]|url\\(|@import|fetch\\(", page.source)
    assert not {"link", "img", "iframe", "base"} & set(page.tags)
    assert page.links == []
    policy = [each["content"] for each in page.attributes if "http-equiv" in each]
    assert policy == ["default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"]
    assert page.source.startswith("<!DOCTYPE html>")
    # All that the script asks for by name is there, once.
    names = re.findall(r'element\("([a-z]+)"\)', page.source)
    identities = [each["id"] for each in page.attributes if "id" in each]
    assert set(names) <= set(identities)
    assert len(identities) == len(set(identities))


@pytest.mark.parametrize(
    "title",
    [
        "</script><script>alert(1)</script>",
        "</title><script>alert(1)</script>",
        "<!-- data --><!-- title --><!--<script>",
        "\"'&amp;<img src=x onerror=alert(1)>",
        "\x1b[31m\u2028\ud800\N{GRINNING FACE} ü",
        "\\u003c/script>",
    ],
)
def test_names_stay_text(write, title):
    plain = write(VOLUME, title="plain")
    page = write(VOLUME, title=title)
    assert page.tags == plain.tags
    assert page.texts["title"].strip() == page.about["title"] == printable(title)
    np.testing.assert_array_equal(page.labels(), VOLUME)


def test_title_is_the_name_of_the_file(tmp_path):
    conncomp.write_view(tmp_path / "a<b>.html", VOLUME)
    assert ViewPage(tmp_path / "a<b>.html").about["title"] == "a<b>"


@pytest.mark.parametrize(
    ("arguments", "options", "error", "words"),
    [
        ((3,), {}, ValueError, "scalar"),
        ((VOLUME,), {"title": np.arange(3)}, TypeError, "title=.* must be a str"),
        ((VOLUME * 0.5,), {}, TypeError, "labels is of dtype float64"),
        ((VOLUME - 5,), {}, ValueError, "labels holds -"),
        ((VOLUME, VOLUME[0]), {}, ValueError, "image has shape"),
        ((VOLUME, VOLUME * 1j), {}, TypeError, "image is of dtype complex128"),
        ((VOLUME,), {"part": 3}, TypeError, "part=3 must have a slice for each axis"),
        ((VOLUME,), {"part": [1, 2, 3]}, TypeError, "must have a slice"),
        ((VOLUME,), {"part": np.s_[:, "a":, :]}, TypeError, "part='a' must be an integer"),
        ((VOLUME,), {"part": np.s_[:, :]}, ValueError, "must have a slice for each.*and not 2"),
        ((VOLUME,), {"part": np.s_[:, ::-1, :]}, ValueError, "the step (-1|0); it must be"),
        ((VOLUME,), {"part": np.s_[:, :, ::0]}, ValueError, "the step (-1|0); it must be"),
        ((VOLUME,), {"part": np.s_[9:, :, :]}, ValueError, "nothing to show"),
        ((np.zeros((0, 3), int),), {}, ValueError, "nothing to show"),
        ((np.zeros((2, 2, 2, 2), int),), {}, ValueError, "4 axes longer than 1.*choose one place"),
        ((VOLUME,), {"value_range": (2, 1)}, ValueError, "value_range"),
        ((VOLUME,), {"background": 7}, ValueError, "background=7"),
    ],
)
def test_refusals(tmp_path, arguments, options, error, words):
    with pytest.raises(error, match=words):
        conncomp.write_view(tmp_path / "page.html", *arguments, **options)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ({"MOST_UNPACKED": 40_000}, "would take 0 MiB in a browser.*part=.*::2, ::2, ::2"),
        ({"MOST_BYTES": 20_000}, "page of 0 MiB.* would have more than 0 MB; show less by part="),
        ({"MOST_BYTES": 120_000}, r"shape \(1, 150, 150\) would have 0 MB.*show less by part="),
    ],
)
def test_a_page_that_is_too_large(tmp_path, monkeypatch, limit, words):
    for name, value in limit.items():
        monkeypatch.setattr(view, name, value)
    monkeypatch.setattr(view, "BLOCK", 1000)
    labels = RNG.permutation(150 * 150).reshape(150, 150)
    with pytest.raises(ValueError, match=words):
        conncomp.write_view(tmp_path / "page.html", labels)
    assert list(tmp_path.iterdir()) == []


def test_inputs_stay(write):
    labels, image = VOLUME.copy(), RNG.random(VOLUME.shape)
    before = image.copy()
    write(labels, image)
    np.testing.assert_array_equal(labels, VOLUME)
    np.testing.assert_array_equal(image, before)


def test_a_gpu_is_refused_with_a_remedy(write):
    class There:
        __cuda_array_interface__ = {}  # noqa: RUF012

    with pytest.raises(TypeError, match=r"labels lies in GPU memory.*copy it to a NumPy array"):
        write(There())


@pytest.mark.parametrize(
    ("spacing", "part", "proportions"),
    [
        (None, None, [1, 1, 1]),
        ((4, 0.5, 1), None, [8, 1, 2]),
        ((4, 0.5, 1), np.s_[:, ::4, :], [4, 2, 1]),
        (2, np.s_[:, :1], [1, 1, 1]),
        ((4, 0.5, 1), np.s_[:, :1], [1, 4, 1]),
    ],
)
def test_true_proportions(write, spacing, part, proportions):
    labels = np.ones((4, 9, 6), int)
    part = None if part is None else (*part, *[slice(None)] * (3 - len(part)))
    assert write(labels, spacing=spacing, part=part).about["spacing"] == proportions


@pytest.mark.parametrize("spacing", [0, (1, 2), "x", (1, float("nan"))])
def test_spacings_that_are_none(tmp_path, spacing):
    with pytest.raises((TypeError, ValueError), match="spacing"):
        conncomp.write_view(tmp_path / "a.html", np.ones((2, 3, 4), int), spacing=spacing)
    assert not list(tmp_path.iterdir())
