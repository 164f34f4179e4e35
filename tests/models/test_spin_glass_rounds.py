"""Rounds of spin glasses: overlaps and tempering in series, records and checkpoints."""

import numpy as np
import pytest

from conncomp.models import SpinGlass, parallel_tempering, simulate, summarise_overlaps

ALL = {"houdayer": True, "overlaps": True, "tempering": True}


def glass(couplings="pm", **options):
    arguments = {"temperature": [2.0, 1.0, 1.5], "samples": 3, "copies": 2, "seed": 4, **options}
    return SpinGlass((4, 3, 4), couplings, **arguments)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("couplings", ["pm", "gaussian"])
def test_series_are_what_each_moment_has(device, couplings):
    """Places are found here one by one, by sample, temperature and copy."""
    model, beside = glass(couplings, device=device), glass(couplings)
    moments = []

    def watch(model):
        betas, energies = np.asarray(model.beta), np.asarray(model.energy())
        # Of one ladder are replicas of one sample and remainder, by the order when it was made.
        ladders = [range(6 * s + c, 6 * s + 6, 2) for s in range(3) for c in range(2)]
        given = [2.0, 1.0, 1.5]
        by_beta = [sorted(ladder, key=lambda r: given.index(1 / betas[r])) for ladder in ladders]
        places = [by_beta[2 * s + c][t] for s in range(3) for t in range(3) for c in range(2)]
        moments.append((betas[places], energies[places], model.overlaps()))

    series = simulate(model, 8, thermalise=3, watch=watch, **ALL).series
    for k, (betas, energies, overlaps) in enumerate(moments):
        np.testing.assert_array_equal(series.beta, betas)
        np.testing.assert_allclose(series.energy[k], energies, rtol=1e-12)
        for name in ("overlap", "link_overlap", "structure"):
            np.testing.assert_array_equal(getattr(series, name)[k], getattr(overlaps, name))
            np.testing.assert_array_equal(
                getattr(series.overlaps()[k], name), getattr(overlaps, name)
            )
        np.testing.assert_array_equal(series.pair_beta, overlaps.beta)
        np.testing.assert_array_equal(series.pair_sample, overlaps.sample)
    assert series.beta[:6].tolist() == [0.5, 0.5, 1.0, 1.0, 1 / 1.5, 1 / 1.5]
    simulate(beside, 11, **ALL)
    np.testing.assert_array_equal(np.asarray(model.beta), beside.beta)
    assert (np.diff(beside.beta.reshape(3, 3, 2)[:, 0, 0]) != 0).any()  # some were exchanged


def test_tempering_is_that_of_parallel_tempering():
    here, there = glass(), glass()
    series = simulate(here, 20, tempering=True).series
    parallel_tempering(there, 20)
    np.testing.assert_array_equal(here.beta, there.beta)
    np.testing.assert_array_equal(here.spins, there.spins)
    with pytest.raises(ValueError, match="overlaps were not measured; update with overlaps=True"):
        series.overlap  # noqa: B018
    assert list(series.observables()) == ["energy", "magnetisation", "beta"]


def test_summaries_and_files_are_of_the_series(tmp_path):
    run = simulate(glass(), 12, thermalise=3, **ALL)
    assert run.summarise() == summarise_overlaps(run.series.overlaps(), (4, 3, 4))
    run.write(tmp_path / "run.h5")
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "run.h5") as file:
        np.testing.assert_array_equal(file["overlap"], run.series.overlap)
        np.testing.assert_array_equal(file["beta"], run.series.beta)


def test_what_ends_an_exchange_takes_the_sweep_back(monkeypatch):
    model, whole = glass(), glass()
    update = model.updater(tempering=True)
    update(1)
    spins, betas = model.spins, model.beta

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("conncomp.models.spin_glass.rounds.exchange", interrupt)
    with pytest.raises(KeyboardInterrupt):
        update(2)
    monkeypatch.undo()
    assert model.updates == 1
    np.testing.assert_array_equal(model.spins, spins)
    np.testing.assert_array_equal(model.beta, betas)
    update(2)
    simulate(whole, 2, tempering=True)
    np.testing.assert_array_equal(model.spins, whole.spins)
    np.testing.assert_array_equal(model.beta, whole.beta)


def test_bad_rounds():
    for options, words in [
        ({"overlaps": np.zeros(2)}, "overlaps="),
        ({"tempering": np.zeros(3)}, "tempering="),
    ]:
        with pytest.raises((TypeError, ValueError), match=words):
            glass().updater(**options)
    with pytest.raises(ValueError, match=r"overlaps=True needs two replicas .* copies=2"):
        glass(copies=1).updater(overlaps=True)
    with pytest.raises(ValueError, match="twice among replicas that exchange"):
        glass(temperature=[1.0, 1.0]).updater(tempering=True)
    with pytest.raises(ValueError, match="overlaps were not measured; simulate with overlaps"):
        simulate(glass(), 2).summarise()
