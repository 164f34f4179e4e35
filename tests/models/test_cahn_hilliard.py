"""The equation of Cahn and Hilliard: the scheme, its bounds, what is measured, and bad input."""

import math
import re
import zlib

import numpy as np
import pytest
from scipy import stats

import conncomp
from conncomp.kernels.field import OUTSIDE
from conncomp.models import CahnHilliard, simulate
from conncomp.models.protocol import CONTRACT
from host_cuda.host_gpu import SANITIZERS, check_sanitized
from interrupts import interrupted_after
from models.alarms import FALSE_ALARM
from models.cahn_hilliard_reference import ReferenceCahnHilliard, error
from models.devices import both, equal_steps, on_host

DTYPES = ["float32", "float64"]
PARAMETERS = {"mobility": 0.7, "b": 1.3, "u": 0.9, "K": 0.6, "dx": 1.2}


def wave(shape, numbers):
    """Return cos(k x) with so many wave lengths along each axis, and minus its eigenvalue."""
    lines = np.meshgrid(*map(np.arange, shape), indexing="ij")
    phase = sum(
        2 * np.pi * n * x / length for n, x, length in zip(numbers, lines, shape, strict=True)
    )
    decay = sum(
        4 * math.sin(math.pi * n / length) ** 2 for n, length in zip(numbers, shape, strict=True)
    )
    return np.cos(phase), decay


# ------------------------------------------------------------------------------------ the reference


@pytest.mark.soak(gate="pairs")
@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("noise", [0.0, 0.03])
@pytest.mark.parametrize("shape", [(12, 20), (5, 7), (2, 3), (37, 64), (6, 8, 12), (3, 2, 5)])
def test_fields_and_measurements_are_those_of_the_reference(device, dtype, noise, shape):
    arguments = {**PARAMETERS, "mean": 0.1, "amplitude": 0.8, "noise": noise, "seed": 7 << 32 | 5}
    model = CahnHilliard(
        shape, **arguments, dtype=dtype, replicas=2, first_replica=3, device=device
    )
    allowed, steps = error(dtype, model), 0
    references = [ReferenceCahnHilliard(shape, **arguments, dt=model.dt, replica=k) for k in (3, 4)]
    for n in (0, 1, 4):
        model.step(n)
        steps += n
        fields = on_host(model.field)
        for field, reference in zip(fields, references, strict=True):
            reference.step(n)
            assert abs(field - reference.field).max() <= (2 * steps + 1) * allowed
        measured = model.measure(threshold=0.05)
        for k, reference in enumerate(references):
            reference.field = fields[k].astype(np.float64)
            for name, values in reference.domains(0.05).items():
                np.testing.assert_array_equal(getattr(measured, name)[k], values, name)
            assert measured.energy[k] == pytest.approx(reference.energy(), rel=1e-12)
            assert measured.mean[k] == pytest.approx(math.fsum(fields[k].ravel()) / fields[k].size)


@pytest.mark.soak(gate="pairs")
@pytest.mark.parametrize("device", ["cuda"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("noise", [0.0, 0.02])
@pytest.mark.parametrize(
    "shape", [(64, 128), (130, 36), (9, 10), (33, 7), (2, 2), (20, 12, 16), (5, 12, 132), (7, 9, 6)]
)
def test_devices_are_equal_to_the_last_bit(device, dtype, noise, shape):
    arguments = {"noise": noise, "dtype": dtype, "replicas": 2, "seed": 11, "amplitude": 0.5}
    equal_steps(both(device, CahnHilliard, shape, **arguments), 0, 1, 8)


@pytest.mark.soak
@pytest.mark.parametrize("sanitizer", SANITIZERS)
def test_kernels_are_clean(sanitizer):
    """Those of each dtype, with noise and without: kernels without it for float32 load ahead."""
    kinds = "0.0-float32 or 0.02-float64"
    chosen = f"test_devices_are_equal_to_the_last_bit and ({kinds})"
    check_sanitized(sanitizer, __file__, chosen)


# -------------------------------------------------------------------------------------- the physics


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("noise", [0.0, 0.1])
@pytest.mark.parametrize("shape", [(48, 40), (16, 12, 20)])
def test_mean_is_conserved_but_for_rounding(dtype, noise, shape):
    model = CahnHilliard(shape, **PARAMETERS, mean=0.2, noise=noise, dtype=dtype, seed=1)
    largest, cells = 3.0, math.prod(shape)
    allowed = error(dtype, model, largest)
    before = math.fsum(model.field.ravel())
    for steps in (100, 400, 500):
        model.step(steps)
        assert abs(model.field).max() < largest
        moved = abs(math.fsum(model.field.ravel()) - before) / cells
        assert moved <= model.updates * allowed


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((64, 48), {}),
        ((64, 48), {"K": 0.3, "amplitude": 1.0}),
        ((48, 64), {**PARAMETERS, "mean": 0.3}),
        ((16, 24, 20), {}),
        ((32, 32), {"b": -0.5, "amplitude": 1.0}),
        ((32, 32), {"b": -0.5, "u": 0.0, "amplitude": 1.0}),
    ],
)
def test_energy_never_rises_within_the_descent_limit(dtype, shape, options):
    model = CahnHilliard(shape, **options, dtype=dtype, seed=2)
    physics = {**PARAMETERS, "mobility": 1.0, "b": 1.0, "u": 1.0, "K": 1.0, "dx": 1.0, **options}
    reference = ReferenceCahnHilliard(shape, **physics, dt=model.dt)
    rounding, last = error(dtype, model) * reference.field.size, math.inf
    for _ in range(300):
        reference.field = model.field.astype(np.float64)
        energy = reference.energy()
        assert abs(reference.field).max() < model.descent_limit
        assert energy <= last + rounding
        last = energy
        model.step()


@pytest.mark.parametrize("shape", [(8, 12), (4, 6, 8)])
@pytest.mark.parametrize("options", [{}, PARAMETERS, {"b": -0.8}, {"b": 0.0}])
def test_stable_bound_is_sharp(shape, options):
    """The shortest wave on a uniform field neither grows nor decays at the bound."""
    ndim = len(shape)
    physics = {"mobility": 1.0, "b": 1.0, "u": 1.0, "K": 1.0, "dx": 1.0, **options}
    bound = CahnHilliard.stable_time_step(ndim, **options)
    phase = math.sqrt(max(physics["b"], 0) / physics["u"])
    board, _ = wave(shape, [length // 2 for length in shape])
    start = phase + 1e-4 * board
    energies, amplitudes = [], []
    for share in (0.99, 1.01):
        reference = ReferenceCahnHilliard(shape, **physics, dt=share * bound, start=start)
        energies.append(reference.energy())
        reference.step(100)
        energies.append(reference.energy())
        amplitudes.append(abs((reference.field * board).mean()))
    assert amplitudes[0] < 0.2e-4 < 5e-4 < amplitudes[1]
    assert energies[1] < energies[0] == energies[2] < energies[3]
    assert CahnHilliard(shape, **options, dt=bound, amplitude=0.0).dt == bound
    with pytest.raises(
        ValueError, match=re.escape(f"the stable bound of explicit steps, {bound:.6g}")
    ):
        CahnHilliard(shape, **options, dt=1.001 * bound, amplitude=0.0)


def test_bound_follows_the_first_field():
    bound = CahnHilliard.stable_time_step(2, largest=2.0)
    assert bound < CahnHilliard.stable_time_step(2, largest=1.0) == 0.025
    start = np.zeros((8, 8))
    start[3, 3] = -2.0
    assert CahnHilliard((8, 8), start=start).dt == pytest.approx(0.8 * bound)
    assert CahnHilliard((8, 8), mean=1.5, amplitude=0.5).dt == pytest.approx(0.8 * bound)
    with pytest.raises(ValueError, match=r"\|phi\| up to 2; choose a smaller one"):
        CahnHilliard((8, 8), start=start, dt=0.02)
    model = CahnHilliard((8, 8), start=start, dt=bound)
    assert model.descent_limit == pytest.approx(2.0)


@pytest.mark.soak(gate="pairs")
@pytest.mark.parametrize("shape", [(16, 24), (8, 12, 6)])
@pytest.mark.parametrize("mean", [0.0, 0.4, 0.9])
@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_waves_grow_and_decay_at_the_linear_rate(shape, mean, axis, number):
    numbers = [0] * len(shape)
    numbers[axis] = number
    numbers[axis - 1] = 1
    cosine, decay = wave(shape, numbers)
    small, steps = 1e-6, 60
    model = CahnHilliard(shape, **PARAMETERS, start=mean + small * cosine, dtype="float64", dt=0.01)
    model.step(steps)
    b, u, stiffness, dx = (PARAMETERS[name] for name in ("b", "u", "K", "dx"))
    eigenvalue = decay / dx**2
    factor = 1 - 0.01 * PARAMETERS["mobility"] * eigenvalue * (
        3 * u * mean**2 - b + stiffness * eigenvalue
    )
    wanted = mean + small * factor**steps * cosine
    # Of second order is a wave half as long: its amplitude is about that of the first one, squared.
    assert abs(model.field - wanted).max() < 1e-10 * max(1, factor ** (2 * steps)) + 1e-13
    assert factor > 1 or mean > 0.2 or number > 1


@pytest.mark.soak
@pytest.mark.parametrize(("shape", "replicas"), [((8, 8), 285), ((4, 6, 4), 215)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_noise_has_the_variance_of_the_theory(shape, replicas, dtype):
    """In one phase without the cubic term a mode is an autoregressive process, solved exactly.

    Sums over replicas of squared amplitudes are compared by chi-squared, a check for each mode, and
    one for all together, whose amplitudes are independent: it tells a factor of 1.08.
    """
    stiffness, b, noise, mobility, dx, steps = 0.5, -1.5, 0.2, 0.8, 1.1, 1200
    model = CahnHilliard(
        shape,
        mobility=mobility,
        b=b,
        u=0.0,
        K=stiffness,
        dx=dx,
        noise=noise,
        amplitude=0.0,
        replicas=replicas,
        dtype=dtype,
        seed=8,
    )
    model.step(steps)
    modes = np.fft.fftn(model.field.astype(np.float64), axes=range(1, len(shape) + 1), norm="ortho")
    power = (abs(modes) ** 2).sum(axis=0)
    sums = []
    for numbers in np.ndindex(*shape):
        opposite = tuple(-n % length for n, length in zip(numbers, shape, strict=True))
        if numbers == (0,) * len(shape) or opposite < numbers:
            continue
        eigenvalue = wave(shape, numbers)[1] / dx**2
        factor = 1 - model.dt * mobility * eigenvalue * (-b + stiffness * eigenvalue)
        assert abs(factor) ** (2 * steps) < 1e-9
        variance = 2 * noise * mobility * model.dt * eigenvalue / (1 - factor**2)
        # A mode that is not its own opposite has a real and an imaginary part.
        freedom = replicas * (1 if opposite == numbers else 2)
        observed = power[numbers] / variance * (1 if opposite == numbers else 2)
        sums.append((observed, freedom))
    for observed, freedom in [*sums, np.sum(sums, axis=0)]:
        tail = min(stats.chi2.cdf(observed, freedom), stats.chi2.sf(observed, freedom))
        assert 2 * tail > FALSE_ALARM


@pytest.mark.parametrize(
    ("length", "device"),
    [
        pytest.param(384, "cpu", marks=pytest.mark.soak),
        pytest.param(4096, "cuda", marks=pytest.mark.gpu),
    ],
)
def test_domains_grow_with_the_cube_root_of_time(length, device):
    model = CahnHilliard((length, length), seed=5, replicas=2, device=device)
    times, sizes, before = [], [], model.measure()
    for _ in range(16):
        model.step(1000)
        measured = model.measure()
        assert (measured.energy < before.energy).all()
        before = measured
        times.append(model.time)
        sizes.append(measured.domain_size.mean())
    times, sizes = np.array(times[2:]), np.array(sizes[2:])

    def deviation(power):
        slope, first = np.polyfit(times**power, sizes, 1)
        assert slope > 0
        return abs(sizes / (first + slope * times**power) - 1).max()

    # Other laws are farther off by what the largest deviation of this one is, several times.
    assert deviation(1 / 3) < 0.004
    assert min(deviation(1 / 4), deviation(1 / 2)) > 0.008
    assert sizes[-1] > 1.5 * sizes[0]


def test_interface_is_that_of_the_theory():
    """Half a wave of tanh(x / sqrt(2)) on either side; its energy is sqrt(8)/3 a unit of length."""
    x = np.arange(64) - 31.5
    profile = np.where(abs(x) < 16, 1.0, -1.0) * np.ones((8, 1))
    model = CahnHilliard((8, 64), start=profile, dtype="float64")
    model.step(20000)
    distance = 16 - abs(x)
    np.testing.assert_allclose(model.field[0], np.tanh(distance / math.sqrt(2)), atol=0.04)
    excess = model.measure().energy / 8 + 64 / 4
    assert excess == pytest.approx(2 * math.sqrt(8) / 3, rel=0.02)
    measured = model.measure()
    assert measured.interface == 2 / 64
    assert measured.domain_size == 64.0
    assert measured.components.tolist() == [1, 1]


# ------------------------------------------------------------------------------ states and protocol


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_labels_are_those_of_the_phase_above(device):
    model = CahnHilliard((12, 20), seed=3, replicas=2, device=device)
    model.step(50)
    labels, counts = model.labels(return_num=True)
    above = on_host(model.field) > 0
    wanted = conncomp.label(above, connectivity=1, periodic=True, batch_axes=1)
    np.testing.assert_array_equal(on_host(labels), wanted)
    np.testing.assert_array_equal(on_host(counts), model.measure().components[:, 0])
    corners = on_host(model.labels(threshold=-0.1, connectivity=2, numbering="roots"))
    wanted = conncomp.label(
        on_host(model.field) > -0.1, connectivity=2, periodic=True, batch_axes=1, numbering="roots"
    )
    np.testing.assert_array_equal(corners, wanted)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 5), (8, 8), (9, 10)])
def test_a_threshold_is_compared_in_one_way(device, dtype, shape):
    """Also one that float32 has not, where cells are at the number next to it."""
    start = np.zeros(shape)
    start[1, :2] = 0.05
    start[2] = np.nextafter(np.float32(0.05), np.float32(1))
    model = CahnHilliard(shape, start=start, dtype=dtype, device=device, replicas=2)
    measured = model.measure(threshold=0.05)
    assert measured.phase_cells.tolist() == 2 * [[shape[1], (shape[0] - 1) * shape[1]]]
    assert (measured.interface == 2 * shape[1] / start.size).all()
    assert (on_host(model.labels(threshold=0.05)).reshape(2, -1) > 0).sum() == 2 * shape[1]


def test_field_of_one_phase_has_no_domains_of_the_other():
    measured = CahnHilliard((6, 8), mean=0.5).measure()
    assert measured.components.tolist() == [1, 0]
    assert measured.largest_component.tolist() == [48, 0]
    assert measured.interface == 0
    assert measured.domain_size == math.inf
    assert math.isnan(measured.weighted_size[1])


def test_a_field_that_leaves_all_bounds_is_told():
    model = CahnHilliard((8, 8))
    model._state.now[0, 2, 3:5] = math.nan
    model._state.now[0, 0, 0] = math.inf
    records = model.new_records(1)
    model._measure(records[0], 0.0)
    assert records[0, 0, OUTSIDE] > 0
    message = "the field has left all bounds; make the model with a smaller dt"
    with pytest.raises(FloatingPointError, match=message):
        model.measure()


def test_an_interrupt_leaves_the_field_as_it_was():
    conncomp.set_num_threads(2)
    model, twin = (CahnHilliard((1024, 1024), noise=0.01) for _ in range(2))
    for delay in (0.1, 0.13):
        with interrupted_after(delay):
            model.step(10**6)
        twin.step(model.updates - twin.updates)
        np.testing.assert_array_equal(model.field, twin.field)


def test_random_numbers_are_those_of_the_contract():
    """If this fails, a run that goes on from an older checkpoint differs: raise `CONTRACT`."""
    model = CahnHilliard((6, 10, 7), noise=0.1, amplitude=0.5, seed=5)
    model.step(5)
    digest = zlib.crc32(model.field.astype("<f4").tobytes())
    assert (CONTRACT, digest) == (3, 2654373757)


# ---------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("shape", "error_type", "message"),
    [
        ((8,), ValueError, r"shape=\(8,\) must have two or three lengths"),
        ((4, 4, 4, 4), ValueError, "must have two or three lengths"),
        ((4, 1), ValueError, "shape=1 must be from 2 to"),
        ((1 << 16, 1 << 16), ValueError, r"shape=\(65536, 65536\) has more than 2147483647 cells"),
    ],
)
def test_shapes_that_are_refused(shape, error_type, message):
    with pytest.raises(error_type, match=message):
        CahnHilliard(shape)


REFUSED = [
    ({"mobility": 0}, ValueError, "mobility=0 must be above 0"),
    ({"b": math.inf}, ValueError, "b=inf must be finite"),
    ({"u": -1}, ValueError, "u=-1 must not be negative"),
    ({"u": 0}, ValueError, "u=0 with b=1.0 > 0 has no lowest energy; choose u > 0"),
    ({"dt": 0}, ValueError, "dt=0 must be above 0"),
    ({"dt": 0.026}, ValueError, "dt=0.026 is above the stable bound .* 0.025, for"),
    ({"mean": 1e200}, ValueError, r"with \|phi\| up to 1e\+200 leave no time step"),
    ({"dx": 1e-200}, ValueError, "and dx=1e-200 with .* choose units in which they are nearer"),
    ({"K": 1e308, "u": 1e308}, ValueError, r"u=1e\+308, K=1e\+308 and .* leave no time step"),
    ({"mobility": 1e40}, ValueError, r"mobility=1e\+40, .* leave no time step"),
    ({"mobility": 1e-320, "K": 1e-9}, ValueError, "mobility=.* leave no time step"),
    ({"noise": 1e100}, ValueError, r"noise=1e\+100 is too large for float32 with these dt and"),
    ({"noise": -1}, ValueError, "noise=-1 must not be negative"),
    ({"dtype": "float16"}, ValueError, "dtype='float16' is not one of 'float32', 'float64'"),
    ({"start": np.zeros((6, 4))}, ValueError, r"start has shape \(6, 4\); it must have"),
    ({"start": np.full((4, 6), 1e39)}, ValueError, "start has values that are not finite, or"),
    ({"start": np.full((4, 6), "a")}, TypeError, "start is of dtype <U1; it must be of numbers"),
]


@pytest.mark.parametrize(("argument", "error_type", "message"), REFUSED)
def test_arguments_that_are_refused(argument, error_type, message):
    with pytest.raises(error_type, match=message):
        CahnHilliard((4, 6), **argument)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda model: model.step(-1), "n=-1 must be from 0"),
        (lambda model: model.measure(threshold=math.nan), "threshold=nan must be finite"),
        (lambda model: model.labels(threshold=math.inf), "threshold=inf must be finite"),
        (lambda model: simulate(model, 3, threshold=math.nan), "threshold=nan must be finite"),
        (lambda model: model.stable_time_step(4), "ndim=4 must be from 2 to 3"),
    ],
)
def test_calls_that_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(CahnHilliard((4, 6)))


def test_a_start_is_rounded_and_belongs_to_the_model():
    start = np.linspace(-1, 1, 24).reshape(4, 6)
    model = CahnHilliard((4, 6), start=start, replicas=2)
    np.testing.assert_array_equal(model.field, np.stack([start.astype(np.float32)] * 2))
    start[...] = 0
    model.field[...] = 0
    assert abs(model.field).max() == 1
