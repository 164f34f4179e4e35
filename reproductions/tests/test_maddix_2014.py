"""``python -m reproductions maddix-2014``, on the CPU and on the host executor by its own clock."""

import json
from pathlib import Path

import numpy as np
import pytest

from conncomp.bench.suites.grids import maddix
from reference import label_by_flood_fill
from reproductions import PAPERS
from reproductions.maddix_2014 import images, measurements, published
from reproductions.tests.paper_results import measured

EXHIBITS = PAPERS["maddix-2014"].exhibits
ON_CPU = {name for name, exhibit in EXHIBITS.items() if "cpu" in exhibit.seconds}
IMAGES = list(published.MILLISECONDS)
COMMAND = "maddix-2014", "--all", "-o", "out"


def verdicts(result):
    """Return whether each claim holds, by what it says."""
    return {claim["says"]: claim["holds"] for claim in result["claims"]}


def test_published_values():
    """Ratios that the report has in words follow from its table, but for one."""
    a, b16, b32, d = np.array(list(published.MILLISECONDS.values())).T
    for slow, fast in ((a, b16), (b16, b32), (b32, d)):
        assert (slow > fast).all()
    assert a[0] / d[0] == pytest.approx(1298, abs=0.5)
    assert b32[0] / d[0] == pytest.approx(207, abs=0.5)
    assert sum(published.SHARES.values()) == pytest.approx(1, abs=2e-3)
    launches = [480.75, 473.985, 470.903, 470.216, 469.469]  # of six, in microseconds
    sixth = published.SCAN_SECONDS * 1e6 - sum(launches)
    assert 460 < sixth < 480


@pytest.mark.soak
def test_on_the_cpu(run):
    results = measured(run, *COMMAND)
    assert set(results) == ON_CPU
    rows = results["times"]["rows"]
    assert [row["image"] for row in rows if row["way"] == measurements.SERIAL] == IMAGES
    assert {row["status"] for row in rows} == {"ok"}
    assert {row["transfer_seconds"] for row in rows} == {0}
    assert False not in verdicts(results["times"]).values()


@pytest.mark.soak
def test_pictures_of_components(run):
    """They show the image, and the same number where labels are the same."""
    run("maddix-2014", "--exhibit", "images", "-o", "out")
    rows = json.loads(Path("out/images.json").read_text())["rows"]
    for row, entry in zip(rows, maddix("tiny"), strict=True):
        image = entry.make()
        labels = label_by_flood_fill(image, connectivity=1)
        assert row["components"] == len(np.unique(labels[labels >= 0]))
        np.testing.assert_array_equal(images._unpacked(row["picture"]), image)
        shown = images._unpacked(row["picture_of_labels"])
        np.testing.assert_array_equal(shown == 0, labels == -1)
        pairs = np.unique(np.stack([labels.ravel(), shown.ravel()]), axis=1)
        assert pairs.shape[1] == len(np.unique(labels))


@pytest.mark.soak
def test_on_a_gpu(run, kernels_on_host):
    results = measured(run, *COMMAND, "--device", "cuda")
    assert set(results) == set(EXHIBITS)
    check_times(results["times"])
    check_profile(results["profile"])
    check_blocks(results["blocks"])
    check_ideas(results["further-work"])


def check_times(result):
    rows = result["rows"]
    assert [row["image"] for row in rows if row["way"] == "kernel D"] == IMAGES
    assert {row["status"] for row in rows} == {"ok"}
    for row in rows:
        assert row["total_seconds"] == pytest.approx(row["seconds"] + row["transfer_seconds"])
        assert (row["transfer_seconds"] > 0) == (not row["way"].endswith("one thread"))
    sweeps = {(row["image"], row["way"]): row["sweeps"] for row in rows}
    a, b16, b32, d = (sweeps["maze", name] for name in published.KERNELS)
    assert d <= min(b16, b32)
    assert a > 10 * max(b16, b32)
    ratio = result["fits"]["with transfers"]["kernel A over kernel D"]["maze"]
    total = {(row["image"], row["way"]): row["total_seconds"] for row in rows}
    assert ratio == total["maze", "kernel A"] / total["maze", "kernel D"]


def check_profile(result):
    for row in result["rows"]:
        assert sum(row["shares"].values()) == pytest.approx(1)
        assert min(row["phases_seconds"].values()) > 0


def check_blocks(result):
    rows = result["rows"]
    assert len(rows) == (3 + 5 + 5) * len(IMAGES)
    assert {row["status"] for row in rows} == {"ok"}
    choices = {"kernel A": "32 x 6", "kernel B": "16 x 16", "kernel D": "32 x 6"}
    for row in rows:
        if choices[row["kernel"]] == row["shape_of_block"]:
            assert row["over_choice"] == 1


def check_ideas(result):
    rows = result["rows"]
    assert {row["status"] for row in rows} == {"ok"}
    assert set(result["published"]["left out"]) > {"streams", "CPU and GPU"}
    of_d = {row["image"]: row for row in rows if row["way"] == "kernel D"}
    for image, bound in result["fits"]["faster at most"]["streams"].items():
        assert 1 < bound <= 2
        parts = of_d[image]["seconds"], of_d[image]["transfer_seconds"]
        assert bound == pytest.approx(sum(parts) / max(parts))


@pytest.mark.soak
def test_all_given_up(run, kernels_on_host, monkeypatch):
    """Where everything takes too long, results say so."""
    monkeypatch.setitem(measurements.LIMITS, "small", 1e-9)
    results = measured(run, *COMMAND, "--device", "cuda")
    assert set(results) == set(EXHIBITS)
    for row in results["times"]["rows"]:
        assert row["seconds"] is None or row["way"].endswith("one thread")
        assert (row["seconds"] is None) == str(row["reason"]).startswith("given up")
    assert False not in verdicts(results["times"]).values()
