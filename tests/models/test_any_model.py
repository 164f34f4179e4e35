"""`simulate` takes any model of the protocol, with arrays and records of its own."""

import h5py
import numpy as np
import pytest

from conncomp.models import Percolation, Potts, simulate
from models.drift import Drift, Mean


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.checkpoint"


def test_series_are_what_the_model_reads_from_its_records():
    run = simulate(Drift(), 6, thermalise=2, measure_every=2, doubled=True)
    model, means = Drift(), []
    for _ in range(8):
        means.append(model.measure().records[:, 0])
        model.step()
    assert isinstance(run.series, Mean)
    np.testing.assert_array_equal(run.series.observables()["mean"], 2 * np.array(means)[2::2])
    np.testing.assert_array_equal(run.arrays["speed"], [1.0, 2.0])
    assert run.parameters["model"] == "Drift"
    assert run.parameters["doubled"] is True


def test_output_has_the_observables_of_the_model(tmp_path):
    run = simulate(Drift(), 5, output=tmp_path / "run.h5")
    with h5py.File(tmp_path / "run.h5") as archive:
        assert set(archive) == {"mean", "ticks", "updates", "speed"}
        np.testing.assert_array_equal(archive["mean"], run.series.observables()["mean"])
        assert archive["ticks"].dtype == np.int64
        assert archive.attrs["model"] == "Drift"
        assert "speed" not in archive.attrs


def test_checkpoint_has_arrays_of_any_kind(tmp_path, path):
    simulate(Drift(), 20, thermalise=3, output=tmp_path / "whole.h5")
    simulate(Drift(), 7, thermalise=3, checkpoint=path)
    model = Drift()
    simulate(model, 20, thermalise=3, checkpoint=path, output=tmp_path / "parts.h5")
    assert (tmp_path / "parts.h5").read_bytes() == (tmp_path / "whole.h5").read_bytes()
    assert model.updates == 23


@pytest.mark.parametrize(
    ("model", "options", "words"),
    [
        (lambda: Potts((4, 4)), {}, "another simulation, whose model is 'Drift', not 'Potts'"),
        (lambda: Drift(seed=2), {}, "seed is 1, not 2"),
        (lambda: Drift(speed=(1.0, 3.0)), {}, "speed has other values"),
        (Drift, {"doubled": True}, "doubled is False, not True"),
    ],
)
def test_checkpoint_of_another_model_is_refused(path, model, options, words):
    simulate(Drift(), 5, checkpoint=path)
    before, other = path.read_bytes(), model()
    with pytest.raises(ValueError, match=words):
        simulate(other, 9, checkpoint=path, **options)
    assert other.updates == 0
    assert path.read_bytes() == before


def test_summary_of_percolation_is_that_of_its_series():
    run = simulate(Percolation((8, 8), p=0.5, replicas=3), 7)
    assert run.summarise() == [run.series.summarise()]


def test_a_model_need_not_have_summaries():
    with pytest.raises(TypeError, match=r"a Drift has no summaries; series\.observables"):
        simulate(Drift(), 5).summarise()


@pytest.mark.parametrize(
    ("model", "options", "words"),
    [
        (Drift, {"tile": 3}, r"unexpected argument 'tile'; updates of Drift take doubled"),
        (
            lambda: Potts((4, 4)),
            {"doubled": True},
            r"'doubled'; updates of Potts take update, tile, p_flip, clusters",
        ),
        (lambda: "Potts", {}, r"model='Potts' must be a model, such as conncomp\.models\.Potts"),
        (Drift, {"watch": "yes"}, r"watch='yes' must be a function"),
    ],
)
def test_bad_arguments(model, options, words):
    with pytest.raises(TypeError, match=words):
        simulate(model(), 3, **options)


# ----------------------------------------------------------------------------------------- watchers


def test_watcher_sees_the_states_that_are_measured():
    seen = []
    run = simulate(
        Drift(),
        9,
        thermalise=2,
        measure_every=3,
        watch=lambda model: seen.append((model.updates, model.measure().records)),
    )
    updates, records = zip(*seen, strict=True)
    np.testing.assert_array_equal(run.updates, updates)
    np.testing.assert_array_equal(run.series.records, records)


def test_what_a_watcher_raises_ends_the_run(path):
    def stop(model):
        if model.updates == 4:
            raise KeyboardInterrupt

    model = Drift()
    with pytest.raises(KeyboardInterrupt):
        simulate(model, 9, checkpoint=path, watch=stop)
    assert model.updates == 4
    whole = simulate(Drift(), 9)
    rest = simulate(Drift(), 9, checkpoint=path)
    np.testing.assert_array_equal(rest.series.records, whole.series.records)
