"""What lies on a GPU is labelled on that GPU, whichever one is current where the call is made."""

import threading
from functools import partial

import numpy as np
import pytest

import conncomp
from conncomp import Graph
from conncomp.models import Ising, Percolation

pytestmark = pytest.mark.gpu

MASK = np.random.default_rng(0).random((3, 90, 130)) < 0.5
LABELS = conncomp.label(MASK, connectivity=1)
VALUES = np.random.default_rng(1).integers(0, 3, (150, 140), dtype=np.int32)
GRAPH = conncomp.generate.uniform_random(4000, 6000, seed=2)
ROWS = GRAPH.indptr, GRAPH.indices
SRC, DST = np.random.default_rng(3).integers(0, 900, (2, 1200))
WEIGHTS = np.triu(np.random.default_rng(4).integers(0, 3, (50, 50)).astype(np.float32))
BONDS = np.random.default_rng(5).random((2, 60, 70)) < 0.5

# By name: a function, and the arrays that it is given.
CALLS = {
    "label": (conncomp.label, MASK),
    "label roots": (partial(conncomp.label, numbering="roots"), MASK),
    "label batches": (partial(conncomp.label, batch_axes=1, connectivity=1), MASK),
    "label values": (partial(conncomp.label, background=None), VALUES),
    "label_bonds": (conncomp.label_bonds, BONDS),
    "sizes": (conncomp.component_sizes, LABELS),
    "histogram": (conncomp.size_histogram, LABELS),
    "largest": (partial(conncomp.largest_components, k=2), LABELS),
    "small": (partial(conncomp.remove_small_components, min_size=5), LABELS),
    "sorted": (conncomp.sort_by_size, LABELS),
    "relabel": (conncomp.relabel_consecutive, LABELS),
    "holes": (conncomp.fill_holes, LABELS),
    "spans": (lambda labels: conncomp.component_spans(labels)[1:], LABELS),
    "percolates": (partial(conncomp.percolates, axis=1), LABELS),
    "statistics": (lambda labels: conncomp.component_statistics(labels).centroids, LABELS),
    "contacts": (lambda labels: conncomp.contacts(labels).counts, LABELS),
    "weak": (lambda *rows: conncomp.connected_components(Graph.from_csr(*rows))[1], *ROWS),
    "strong": (
        lambda *rows: conncomp.connected_components(Graph.from_csr(*rows), connection="strong")[1],
        *ROWS,
    ),
    "spanning": (lambda *rows: conncomp.spanning_forest(Graph.from_csr(*rows)), *ROWS),
    "dense": (conncomp.minimum_spanning_forest, WEIGHTS),
    "rows": (lambda *rows: Graph.from_csr(*rows).indices, *ROWS),
    "crop": (
        lambda labels, mask: next(conncomp.iterate_components(labels)).crop(mask),
        LABELS,
        MASK,
    ),
    "pairs": (lambda *columns: conncomp.cluster_pairs(*columns)["cluster"], SRC, DST),
}


@pytest.fixture(scope="module")
def cupy():
    cupy = pytest.importorskip("cupy")
    if cupy.cuda.runtime.getDeviceCount() < 2:
        pytest.skip("one GPU")
    return cupy


def placed(cupy, library, device, arrays):
    if library == "torch":
        torch = pytest.importorskip("torch")
        return [torch.as_tensor(array, device=f"cuda:{device}") for array in arrays]
    with cupy.cuda.Device(device):
        return [cupy.asarray(array) for array in arrays]


def number_of(array):
    array = array[0] if isinstance(array, tuple) else array
    return array.get_device() if hasattr(array, "get_device") else array.device.id


@pytest.mark.parametrize("library", ["cupy", "torch"])
@pytest.mark.parametrize("name", CALLS)
def test_each_call_works_where_its_arrays_lie(cupy, library, name):
    function, *arrays = CALLS[name]
    expected = np.asarray(function(*arrays))
    for turn in range(3):  # from the second one on launches are replayed
        for current, device in ((0, 1), (1, 0), (1, 1), (0, 0)):
            there = placed(cupy, library, device, arrays)
            with cupy.cuda.Device(current):
                result = function(*there)
                assert cupy.cuda.runtime.getDevice() == current
            if not np.ndim(expected):
                assert result == expected
                continue
            assert number_of(result) == device, (turn, current, device)
            with cupy.cuda.Device(device):
                results = result if isinstance(result, tuple) else [result]
                for part, right in zip(results, np.split(expected, len(results)), strict=True):
                    got = cupy.asarray(part).get()
                    np.testing.assert_array_equal(got, right.reshape(got.shape))


def test_main_memory_is_labelled_on_the_current_gpu(cupy):
    expected = conncomp.label(MASK)
    for current in (0, 1, 0, 1):
        with cupy.cuda.Device(current):
            np.testing.assert_array_equal(conncomp.label(MASK, device="cuda"), expected)


@pytest.mark.parametrize("library", ["cupy", "torch"])
def test_a_labeller_and_its_output(cupy, library):
    expected = conncomp.label(VALUES)
    for device in (0, 1):
        with cupy.cuda.Device(device):
            labeller = conncomp.Labeller(VALUES.shape, np.int32)
        image, labels = placed(cupy, library, device, [VALUES, np.zeros_like(VALUES)])
        for current in (0, 1):
            with cupy.cuda.Device(current):
                labeller(image, out=labels)
            with cupy.cuda.Device(device):
                np.testing.assert_array_equal(cupy.asarray(labels).get(), expected)


def what_is_found(graph):
    labels = [
        conncomp.connected_components(graph, connection=connection)[1]
        for connection in ("weak", "strong")
    ]
    return [*labels, conncomp.spanning_forest(graph)]


def test_graphs_stay_where_their_arrays_are(cupy):
    graphs = []
    for device in (0, 1):
        arrays = placed(cupy, "cupy", device, ROWS)
        with cupy.cuda.Device(1 - device):
            graphs.append(Graph.from_csr(*arrays))
    expected = what_is_found(Graph.from_csr(*ROWS))
    for turn in range(3):
        for current in (0, 1):
            for device, graph in enumerate(graphs):
                with cupy.cuda.Device(current):
                    results = what_is_found(graph)
                for result, right in zip(results, expected, strict=True):
                    assert number_of(result) == device, (turn, current)
                    np.testing.assert_array_equal(result.get(), right)


def test_one_workspace(cupy):
    workspace, expected = conncomp.Workspace(), conncomp.label(MASK)
    for device in (0, 1, 0, 1):
        [image] = placed(cupy, "cupy", device, [MASK])
        labels = conncomp.label(image, workspace=workspace)
        np.testing.assert_array_equal(labels.get(), expected)


def test_arrays_of_two_gpus_are_refused(cupy):
    [labels] = placed(cupy, "cupy", 0, [LABELS])
    [other] = placed(cupy, "cupy", 1, [LABELS])
    rows = placed(cupy, "cupy", 0, ROWS)
    [far] = placed(cupy, "cupy", 1, ROWS[1:])
    graph = Graph.from_csr(*rows)
    calls = {
        "labels_b": lambda: conncomp.match_labels(labels, other),
        "image": lambda: conncomp.component_statistics(labels, other),
        "out": lambda: conncomp.label(labels, out=other),
        "indices": lambda: Graph.from_csr(rows[0], far),
        "weights": lambda: conncomp.minimum_spanning_forest(graph, far),
        "right": lambda: conncomp.cluster_pairs(rows[1], far),
    }
    for name, call in calls.items():
        with pytest.raises(ValueError, match=f"{name}.* lies on GPU 1, but .* on GPU 0"):
            call()


@pytest.mark.parametrize(
    "make",
    [
        partial(Ising, (64, 64), temperature=2.3, seed=1),
        partial(Percolation, (64, 64), p=0.5, seed=1),
    ],
    ids=["ising", "percolation"],
)
def test_a_simulation_stays_where_it_was_made(cupy, make):
    expected = make()
    expected.step(3)
    with cupy.cuda.Device(1):
        model = make(device="cuda")
        model.step(2)
    # PyTorch leaves that GPU current on which a process puts its first tensor.
    with cupy.cuda.Device(0), pytest.raises(RuntimeError, match="lies on GPU 1"):
        model.measure()
    with cupy.cuda.Device(1):
        model.step()
        assert str(model.measure()) == str(expected.measure())


def test_two_threads_with_a_gpu_each(cupy):
    expected, failures = conncomp.label(MASK), []

    def work(device):
        with cupy.cuda.Device(device):
            for _ in range(200):
                if not (conncomp.label(cupy.asarray(MASK)).get() == expected).all():
                    failures.append(device)

    threads = [threading.Thread(target=work, args=[device]) for device in (0, 1, 0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
