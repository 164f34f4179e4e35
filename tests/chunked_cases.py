"""Arrays at random, how they are cut into chunks at random, and arguments of `label` at random."""

import numpy as np

DTYPES = ["b1", "u1", "i1", "u2", "i4", "i8", "u8", "f4", "f8", "f2", ">i2", "g"]
LONGEST = [0, 40, 14, 8, 5, 4]
MOST_CHUNKS = [0, 10, 5, 3, 3, 2]  # along an axis


def cut(rng, length, most):
    """Return the lengths of chunks along an axis, some of them 1."""
    pieces = int(rng.integers(1, min(length, most) + 1)) if length else 1
    ends = np.sort(rng.choice(np.arange(1, length), pieces - 1, replace=False))
    return tuple(np.diff(ends, prepend=0, append=length).tolist())


def random_image(rng, shape, dtype, tolerance):
    """Return an array whose components are of all sizes, and cross chunks."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        pool = np.array([False, True])
    elif dtype.kind == "f":
        pool = np.array([0, 1, 1.5, 4, np.nan, np.inf, -np.inf, -2], dtype)
    else:
        info = np.iinfo(dtype)
        pool = np.array([0, 1, 2, 5, info.max, info.min, info.max - 1, info.min + 1], dtype)
    few = pool[: rng.choice([2, 2, 3, len(pool)])]
    values = rng.choice(few if not tolerance else pool, shape)
    return np.where(rng.random(shape) < rng.choice([0, 0.2, 0.4, 0.7]), pool[0], values)


def random_neighbourhood(rng, ndim):
    if rng.random() < 0.6:
        return {"connectivity": int(rng.integers(1, ndim + 1))}
    half = rng.random((3,) * ndim) < rng.choice([0.1, 0.3, 0.6])
    return {"structure": half | np.flip(half)}


def random_case(seed):
    """Return an array, its chunks, and arguments of `label` on which the components depend."""
    rng = np.random.default_rng(seed)
    ndim = int(rng.integers(1, 6))
    batch = int(rng.integers(0, ndim)) if rng.random() < 0.3 else 0
    shape = tuple(int(rng.integers(1, LONGEST[ndim] + 1)) for _ in range(ndim))
    dtype = rng.choice(DTYPES)
    tolerance = 0
    if dtype != "b1" and rng.random() < 0.3:
        tolerance = float(rng.choice([1, 2, 1e30, np.inf, 0.6]))
    image = random_image(rng, shape, dtype, tolerance).astype(dtype)
    arguments = random_neighbourhood(rng, ndim - batch)
    arguments |= {"tolerance": tolerance, "batch_axes": batch}
    arguments["periodic"] = [bool(rng.integers(2)) for _ in range(ndim - batch)]
    arguments["background"] = [None, 0, 1, 5.5][rng.choice(4, p=[0.4, 0.2, 0.2, 0.2])]
    return image, tuple(cut(rng, length, MOST_CHUNKS[ndim]) for length in shape), arguments


def random_bonds(seed):
    """Return bonds, the chunks of their lattice, and arguments of `label_bonds`."""
    rng = np.random.default_rng(seed)
    ndim = int(rng.integers(1, 5))
    batch = int(rng.integers(0, ndim)) if rng.random() < 0.3 else 0
    shape = tuple(int(rng.integers(1, LONGEST[ndim] + 1)) for _ in range(ndim))
    bonds = rng.random((ndim - batch, *shape)) < rng.choice([0.2, 0.5])
    if rng.random() < 0.5:
        weights = (1 << np.arange(ndim - batch)).reshape(-1, *(1,) * ndim)
        bonds = (bonds * weights).sum(axis=0).astype(np.uint8)
    arguments = {"periodic": [bool(rng.integers(2)) for _ in range(ndim - batch)]}
    return (
        bonds,
        tuple(cut(rng, length, MOST_CHUNKS[ndim]) for length in shape),
        arguments | {"batch_axes": batch},
    )


def pieces_of(array, layout, ahead=0):
    """Return the chunks of an array by their index, as slices of its last axes."""
    pieces = {}
    for index in layout.indices():
        begin, shape = layout.start(index), layout.chunk_shape(index)
        place = tuple(slice(a, a + n) for a, n in zip(begin, shape, strict=True))
        pieces[index] = array[(slice(None),) * ahead + place]
    return pieces


def assembled(pieces, layout, dtype):
    whole = np.full(layout.shape, -2, dtype)
    for index, place in pieces_of(whole, layout).items():
        assert pieces[index].dtype == dtype
        place[...] = pieces[index]
    return whole


def random_labels(seed):
    """Return labels, some masked, their chunks, and what functions on labels are told of them."""
    rng = np.random.default_rng(seed)
    ndim = int(rng.integers(1, 5))
    batch = int(rng.integers(0, ndim)) if rng.random() < 0.4 else 0
    shape = tuple(int(rng.integers(1, [0, 40, 12, 7, 5][ndim])) for _ in range(ndim))
    background = [0, -1, None][rng.integers(3)]
    dtype = rng.choice(["i4", "i8", "u1", "u2", "i2"] if background != -1 else ["i4", "i8", "i2"])
    labels = rng.integers(0, rng.choice([1, 3, 12, 120]), shape)
    labels[rng.random(shape) < 0.4] = background or 0
    if rng.random() < 0.2:
        labels = np.ma.masked_array(labels, rng.random(shape) < 0.3)
    chunks = tuple(cut(rng, length, 4) for length in shape)
    return labels.astype(dtype), chunks, {"background": background, "batch_axes": batch}
