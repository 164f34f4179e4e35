"""The stages of chunks that lie on a GPU, with a stand-in for CuPy: its kernels run on the CPU."""

import numpy as np
import pytest

import conncomp
from chunked_cases import random_case
from conncomp import _arrays
from conncomp.chunked import call_now, label_all, labelling, relabelling, rules_of_image
from conncomp.grid import array, request
from host_cuda.host_gpu import AVAILABLE
from host_cupy import place_on_host

host = pytest.mark.skipif(not AVAILABLE, reason="needs Linux and a C++ compiler")


@host
@pytest.mark.parametrize("seed", [6, 21, 38, 40, 43, 49])
def test_chunks_of_cupy(monkeypatch, seed):
    image, chunks, arguments = random_case(seed)
    layout, rules = rules_of_image(chunks, image.dtype, **arguments)
    assert layout.crossed
    users = [array, request, labelling, relabelling]
    cupy = place_on_host(monkeypatch, _arrays, users)
    pieces = {}
    for index in layout.indices():
        begin, shape = layout.start(index), layout.chunk_shape(index)
        place = tuple(slice(a, a + n) for a, n in zip(begin, shape, strict=True))
        pieces[index] = place, cupy.asarray(image[place])
    for numbering in ("roots", "consecutive"):
        values = {index: piece for index, (_, piece) in pieces.items()}
        result = label_all(call_now, layout, rules, values, numbering, np.dtype(np.int32))
        want = conncomp.label(image, numbering=numbering, **arguments)
        for index, labels in result.labels.items():
            assert isinstance(labels, cupy.ndarray)
            np.testing.assert_array_equal(labels.get(), want[pieces[index][0]])
