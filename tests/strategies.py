"""Arrays for property tests: of any dtype, shape and layout in memory."""

import math

import numpy as np
from hypothesis import strategies as st

INTEGERS = ["b1", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i2", ">u4", ">i8"]
FLOATS = ["f2", "f4", "f8", "g", ">f2", ">f4", ">f8"]

# Rows are packed into words of 64 bits: lengths around their ends.
WORDS = [1, 2, 3, 7, 31, 32, 33, 62, 63, 64, 65, 66, 127, 128, 129, 191, 192, 193, 257]


def small_shapes(ndim):
    longest = [0, 60, 14, 7, 4, 3][ndim]
    axis = st.one_of(st.integers(1, 3), st.integers(1, longest))
    return st.tuples(*[axis] * ndim)


@st.composite
def word_shapes(draw):
    ndim = draw(st.integers(1, 3))
    shape = [draw(st.integers(1, 4)) for _ in range(ndim)]
    shape[draw(st.integers(0, ndim - 1))] = draw(st.sampled_from(WORDS))
    return tuple(shape)


shapes = st.one_of(word_shapes(), st.integers(1, 5).flatmap(small_shapes))


def value_pool(dtype, rng, size):
    """Return `size` values of `dtype` whose comparison might go wrong, 0 among them."""
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind == "f":
        tiny = np.finfo(dtype).smallest_subnormal
        one_ulp_off = np.nextafter(dtype.newbyteorder("=").type(1), 2)
        pool = [-0.0, 1, one_ulp_off, 0.25, 0.75, math.nan, math.inf, -math.inf, tiny, -1]
    else:
        info = np.iinfo(dtype)
        pool = [info.max, info.min, 1, 2, info.max - 1, info.min + 1, info.max // 2 + 1, 3]
    chosen = rng.choice(len(pool), min(size - 1, len(pool)), replace=False)
    return np.array([0, *(pool[k] for k in chosen)], dtype)


def lay_out(values, layout):
    """Return an array equal to `values`, lying in memory as `layout` says."""
    if layout == "fortran":
        return np.asfortranarray(values)
    if layout == "steps":
        wide = np.zeros([3 * n for n in values.shape], values.dtype)
        view = wide[(slice(1, None, 3),) * values.ndim]
        view[...] = values
        return view
    if layout == "reversed":
        backwards = (slice(None, None, -1),) * values.ndim
        return values[backwards].copy()[backwards]
    if layout == "rotated axes":
        axes = [*range(1, values.ndim), 0]
        return values.transpose(axes).copy().transpose(np.argsort(axes))
    if layout == "read-only":
        values.flags.writeable = False
        return values
    if layout == "misaligned":
        records = np.zeros(values.shape, np.dtype([("pad", "u1"), ("value", values.dtype)]))
        records["value"] = values
        return records["value"]
    if layout.startswith("broadcast"):
        axis = 0 if layout == "broadcast first axis" else values.ndim - 1
        return np.broadcast_to(values.take([0], axis), values.shape)
    return values


LAYOUTS = ["as it is", "fortran", "steps", "reversed", "rotated axes", "read-only", "misaligned"]
LAYOUTS += ["broadcast first axis", "broadcast last axis"]


@st.composite
def images(draw, dtypes=(*INTEGERS, *FLOATS)):
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    shape = draw(shapes)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    pool = value_pool(dtype, rng, draw(st.sampled_from([2, 2, 3, 6])))
    zeros = draw(st.sampled_from([0, 0.05, 0.4, 0.6, 0.95]))
    values = np.where(rng.random(shape) < zeros, pool[0], rng.choice(pool, shape))
    return lay_out(values.astype(dtype), draw(st.sampled_from(LAYOUTS)))
