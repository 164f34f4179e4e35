"""Plots of ``conncomp simulate``: exact lines, transitions, and points with errors."""

from math import pi, sqrt

import numpy as np
import pytest

from conncomp.cli import _picture
from conncomp.cli.simulate._exact import ising_energy, ising_magnetisation, known_of, known_of_glass
from conncomp.models import XY, Clock, Heisenberg, Ising, Potts


@pytest.fixture
def panels(run, monkeypatch):
    """Return what a command draws, by the title or the label of a panel."""
    drawn = []
    monkeypatch.setattr(_picture, "_save", lambda path, figure: drawn.append(figure))

    def call(words):
        assert run(*words.split(), "--plot", "run.png").exit_code == 0
        return {axes.get_title() or axes.get_ylabel(): axes for axes in drawn.pop().axes}

    return call


def lines_of(axes):
    """Return (x, y) of the lines of a panel that are called something."""
    return {
        line.get_label(): np.array(line.get_data(), float)
        for line in axes.get_lines()
        if not line.get_label().startswith("_")
    }


@pytest.mark.parametrize("lattice", ["square", "triangular", "honeycomb", "kagome"])
def test_ising_models_beside_exact_lines(panels, lattice):
    critical = 2 * Ising.critical_temperature(lattice)
    span = f"{0.5 * critical}:{1.5 * critical}:4"
    words = f"simulate ising --lattice {lattice} --shape 4x4 --sweeps 20 --coupling 2"
    drawn = panels(f"{words} --temperatures {span}")
    energy = lines_of(drawn["energy a site"])
    assert energy["T_c"][0].tolist() == pytest.approx([critical] * 2)
    np.testing.assert_allclose(energy["exact"][1], ising_energy(lattice, energy["exact"][0], 2.0))
    assert ("exact" in lines_of(drawn["magnetisation"])) == (lattice != "kagome")
    assert [len(axes.containers) for axes in drawn.values()] == [1] * len(drawn)  # bars of errors
    assert "T_c" not in lines_of(panels(f"{words} --temperatures 0.1:0.2:2")["energy a site"])


def test_of_what_nothing_is_known_nothing_is_drawn(panels):
    for options in ("--shape 4x4 --field 0.5", "--lattice diamond --shape 2x2x2"):
        words = f"simulate ising --temperatures 1:3:3 --sweeps 20 {options}"
        for axes in panels(words).values():
            assert lines_of(axes) == {}


def test_one_temperature_has_levels(panels):
    words = "simulate ising --shape 8x8 --sweeps 20 --temperature 2"
    drawn = panels(words)
    _, energies = lines_of(drawn["energy a site"])["exact"]
    assert energies.tolist() == pytest.approx([float(ising_energy("square", 2.0))] * 2)
    drawn = panels("simulate potts --shape 8x8 --sweeps 20 --beta 1")
    _, energies = lines_of(drawn["energy a site"])["exact"]
    assert energies[0] == pytest.approx(float(ising_energy("square", 1.0, 0.5)) - 1)
    _, magnetised = lines_of(drawn["magnetisation"])["exact"]
    assert magnetised[0] == pytest.approx(float(ising_magnetisation("square", 1.0, 0.5)))


def test_helicity_meets_its_line_at_the_transition(panels):
    drawn = panels("simulate xy --shape 8x8 --temperatures 0.6:1.2:4 --sweeps 20")
    lines = lines_of(drawn["helicity modulus"])
    assert lines["T_KT"][0][0] == pytest.approx(0.8929, abs=1e-4)
    np.testing.assert_allclose(lines["2T/\u03c0"][1], 2 / pi * lines["2T/\u03c0"][0])


def test_curves_of_sizes(panels):
    drawn = panels("simulate ising --shape 4x4 --shape 6x6 --temperatures 2:3:3 --sweeps 20")
    assert list(drawn)[:3] == ["energy a site", "specific heat", "magnetisation"]
    assert len(drawn) == 8
    for axes in drawn.values():
        names = [text.get_text() for text in axes.get_legend().get_texts()]
        assert {"4x4", "6x6", "T_c"} <= set(names)
        assert len(axes.containers) == 2  # bars of errors
    assert "exact" in lines_of(drawn["energy a site"])


def test_glasses_beside_the_nishimori_line(panels):
    words = "simulate glass --shape 4x4 --temperatures 0.5:2:4 --sweeps 20 --samples 4"
    drawn = panels(f"{words} --positive {(1 + 1 / sqrt(2)) / 2}")
    lines = lines_of(drawn["energy a bond"])
    assert lines["exact"].ravel().tolist() == pytest.approx([1.1346, -0.7071], abs=1e-4)
    assert lines["Nishimori line"][0][0] == pytest.approx(1.1346, abs=1e-4)
    assert "Nishimori line" not in lines_of(panels(words)["energy a bond"])
    assert known_of_glass(0.9, False).transition is None


@pytest.mark.parametrize(
    ("model", "temperature"),
    [
        (Potts((4, 4), 3, 1.0), 1 / Potts.critical_beta(3)),
        (Potts((4, 4), 5, 1.0, coupling=2.0), 2 / Potts.critical_beta(5)),
        (
            Potts((4, 4), 4, 1.0, lattice="honeycomb"),
            1 / Potts.critical_beta(4, lattice="honeycomb"),
        ),
        (Potts((4, 4), 3, 1.0, coupling=-1.0), None),
        (Potts((4, 4, 4), 3, 1.0), None),
        (Ising((4, 4, 4), coupling=3.0, lattice="cubic"), 3 * Ising.critical_temperature("cubic")),
        (Ising((4, 4, 4), beta=1.0, lattice="diamond"), None),
        (XY((4, 4, 4)), 1 / 0.4541659),
        (XY((4, 4), beta=1.0, lattice="triangular"), None),
        (Heisenberg((4, 4, 4), coupling=2.0), 2 / 0.693003),
        (Clock((4, 4), 4), 1 / np.log(1 + sqrt(2))),
        (Clock((4, 4), 6, beta=1.0), None),
    ],
)
def test_transitions(model, temperature):
    known = known_of(model.parameters()).transition
    assert (known and known[1]) == (temperature and pytest.approx(temperature))
