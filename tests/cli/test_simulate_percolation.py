"""``conncomp simulate percolation``: the same as the function, as tables and files."""

import h5py
import numpy as np
import pytest

from cli.test_command import check_failure
from conncomp.models import Percolation, simulate

BASE = ["simulate", "percolation", "--shape", "16x24", "--sweeps", "40"]


def test_report_is_that_of_the_function(report):
    found = report(*BASE, "--kind", "bond", "--p", 0.45, "--periodic", "1", "--seed", 3,
                   "--replicas", 2, "--measure-every", 3)  # fmt: skip
    model = Percolation((16, 24), "bond", p=0.45, periodic=(False, True), seed=3, replicas=2)
    run = simulate(model, 40, measure_every=3)
    assert found["model"] == run.parameters
    assert found["model"]["thermalise"] == 0
    for name, estimate in run.series.summarise()._asdict().items():
        assert found["summaries"][name] == estimate._asdict(), name


def test_files(run, tmp_path):
    files = {name: tmp_path / name for name in ("run.h5", "plot.png", "picture.png")}
    result = run(
        *BASE, "--output", files["run.h5"], "--plot", files["plot.png"], "--picture",
        files["picture.png"], "--lattice", "triangular"
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "percolation of sites of a triangular lattice" in result.stdout
    assert all(path.stat().st_size for path in files.values())
    wanted = simulate(Percolation((16, 24), lattice="triangular"), 40)
    with h5py.File(files["run.h5"]) as archive:
        np.testing.assert_array_equal(archive["clusters"], wanted.series.clusters)
        np.testing.assert_array_equal(archive["wraps"], wanted.series.wraps)
        assert archive.attrs["kind"] == "site"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--p", "2"], "--p 2.0 must be from 0 to 1"),
        (["--p", "often"], "'often' is not a number or 'critical'"),
        (["--p", "0.5:0.6"], "'0.5:0.6' is not a number or 'critical'"),
        (["--lattice", "fcc"], "must have 3 axes for --lattice 'fcc'"),
        (["--kind", "vertex"], "'vertex' is not one of"),
    ],
)
def test_bad_options(run, options, message):
    assert message in check_failure(run(*BASE, *options))
