"""Philox: the published vectors, an independent computation, and what is made of its bits."""

import numpy as np
import pytest
from scipy import stats

import conncomp
from conncomp._core import native
from conncomp.generate import random

# The known-answer vectors for philox4x32-10 that come with Random123: key, counter, result.
KNOWN = [
    ((0, 0), (0, 0, 0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 2, (0xFFFFFFFF,) * 4, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0xA4093822, 0x299F31D0),
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@pytest.mark.parametrize(("key", "counter", "result"), KNOWN)
def test_known_answers(key, counter, result):
    seed = key[0] | key[1] << 32
    assert tuple(native.philox(seed, counter)) == result
    assert random.philox(seed, counter) == result


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.float64])
def test_words_of_other_dtypes_are_refused(dtype):
    """Their products were cut off, or negative: other numbers in silence."""
    for place in range(4):
        counter = [0] * 4
        counter[place] = np.arange(3, dtype=dtype)
        with pytest.raises(TypeError, match=f"of dtype {np.dtype(dtype)}; it must be of uint64"):
            random.philox(5, tuple(counter))


@pytest.mark.parametrize("seed", [-1, 2**64, 2**70, 1.5, "1", True, None, np.float64(1), [1]])
def test_seeds_of_philox_out_of_range_are_refused(seed):
    """Words were cut from what is no seed, and numbers were those of another one."""
    with pytest.raises((TypeError, ValueError), match="seed="):
        random.philox(seed, (0, 0, 0, 0))


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize(
    "word",
    [
        *(-1, 2**32, 2**64, 1.5, "1", True, None, np.uint64(2**32), np.int8(-1)),
        *(np.array([0, 2**32], np.uint64), np.array(2**63, np.uint64), np.array([True])),
    ],
)
def test_words_of_philox_out_of_range_are_refused(place, word):
    counter = [0] * 4
    counter[place] = word
    with pytest.raises((TypeError, ValueError), match=rf"counter\[{place}\]"):
        random.philox(5, tuple(counter))


@pytest.mark.parametrize("counter", [(), (0, 0, 0), (0,) * 5, 7, "abcd", None])
def test_counters_of_philox_have_four_words(counter):
    with pytest.raises((TypeError, ValueError), match="counter="):
        random.philox(5, counter)


@pytest.mark.parametrize("kind", [np.uint8, np.int32, np.uint32, np.int64, np.uint64, np.array])
def test_numpy_scalars_are_seeds_and_words_of_philox(kind):
    seed, counter, result = 200, (1, 2, 3, 100), random.philox(200, (1, 2, 3, 100))
    assert random.philox(kind(seed), tuple(map(kind, counter))) == result
    assert random.philox(kind(seed), list(map(kind, counter))) == result
    words = random.philox(kind(seed), (np.array([1, 7], np.uint64), kind(2), 3, 100))
    assert tuple(int(word[0]) for word in words) == result
    key, words, expected = KNOWN[2]
    large = np.uint64(key[0] | key[1] << 32)
    assert random.philox(large, tuple(map(np.uint64, words))) == expected


DRAWS = [
    ("uniform_bits", (), np.uint64),
    ("uniform_bits", (), np.uint32),
    ("uniform", (), np.float64),
    ("uniform", (), np.float32),
    ("integers", (1,), np.int32),
    ("integers", (1000003,), np.int32),
    ("integers", (2**63 - 1,), np.int64),
]


@pytest.mark.parametrize(("name", "args", "dtype"), DRAWS)
@pytest.mark.parametrize("start", [0, 1, 2, 3, 2**34 + 1, 2**62])
def test_kernels_equal_array_arithmetic(cupy, name, args, dtype, start):
    draw = getattr(random, name)
    for count in (0, 1, 2, 3, 4, 5, 1001, 100_001):
        where = {"seed": 2**63 + 5, "purpose": 2**32 - 1, "start": start, "dtype": dtype}
        native_draw = draw(count, *args, **where)
        assert native_draw.dtype == dtype
        assert native_draw.shape == (count,)
        array_draw = draw(count, *args, device="cuda", **where)
        assert array_draw.dtype == dtype
        np.testing.assert_array_equal(native_draw, array_draw.get())


def test_high_for_each_number(cupy):
    high = random.integers(1000, 2**62, seed=3) + 1
    drawn = random.integers(1000, high, seed=4)
    there = random.integers(1000, cupy.asarray(high), seed=4, device="cuda")
    np.testing.assert_array_equal(drawn, there.get())
    bits = random.uniform_bits(1000, seed=4)
    assert drawn.tolist() == [
        int(b) * int(h) >> 64 for b, h in zip(bits.tolist(), high.tolist(), strict=True)
    ]


def test_permutation(cupy):
    for count in (0, 1, 2, 3, 1000, 100_000):
        drawn = random.permutation(count, seed=5)
        assert drawn.dtype == np.int32
        np.testing.assert_array_equal(np.sort(drawn), np.arange(count))
        there = random.permutation(count, seed=5, device="cuda")
        np.testing.assert_array_equal(drawn, there.get())
    first = [random.permutation(3, seed=seed)[0] for seed in range(3000)]
    assert stats.chisquare(np.bincount(first)).pvalue > 1e-3


@pytest.mark.parametrize(("name", "args", "dtype"), DRAWS)
def test_same_for_any_threads_and_any_count(name, args, dtype):
    draw = getattr(random, name)
    conncomp.set_num_threads(1)
    whole = draw(500_000, *args, dtype=dtype)
    conncomp.set_num_threads(5)
    np.testing.assert_array_equal(whole, draw(500_000, *args, dtype=dtype))
    np.testing.assert_array_equal(whole[:77_777], draw(77_777, *args, dtype=dtype))
    np.testing.assert_array_equal(whole[777:], draw(499_223, *args, dtype=dtype, start=777))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_uniform_is_uniform(dtype):
    drawn = random.uniform(200_000, seed=1, dtype=dtype)
    assert drawn.min() >= 0
    assert drawn.max() < 1
    assert stats.kstest(drawn, "uniform").pvalue > 1e-3


def test_integers_are_uniform():
    drawn = random.integers(200_000, 37, seed=2)
    assert stats.chisquare(np.bincount(drawn, minlength=37)).pvalue > 1e-3


def test_seeds_and_purposes_are_independent():
    streams = [
        random.uniform(50_000, seed=seed, purpose=purpose)
        for seed in (0, 1, 2**32)
        for purpose in (0, 1)
    ]
    correlation = np.corrcoef([*streams, streams[0][::-1]]) - np.eye(len(streams) + 1)
    assert np.abs(correlation).max() < 5 / np.sqrt(50_000)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: random.uniform(3, purpose=2**32), f"purpose={2**32}"),
        (lambda: random.uniform(3, start=-2), "start=-2"),
        (lambda: random.uniform(3, dtype=np.int32), "dtype=int32"),
        (lambda: random.integers(3, 0), "high=0"),
        (lambda: random.integers(3, 2**31 + 1, dtype=np.int32), f"high={2**31 + 1}"),
        (lambda: random.integers(3, [1, 2]), r"high has shape \(2,\)"),
    ],
)
def test_bad_values(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_bad_types():
    with pytest.raises(TypeError, match=r"count=1\.5"):
        random.uniform(1.5)
    with pytest.raises(TypeError, match="high is of dtype float64; it must be integers"):
        random.integers(3, 1.5)
