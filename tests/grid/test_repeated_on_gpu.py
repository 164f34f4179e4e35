"""Launches that are recorded and replayed on a GPU: CuPy and PyTorch, streams, threads, graphs."""

import threading

import numpy as np
import pytest

import conncomp
from conncomp.grid import repeated
from conncomp.kernels.cuda.workspace import OwnWorkspaces

pytestmark = pytest.mark.gpu

SHAPES = [((256, 256), 0), ((1080, 1920), 0), ((64, 64, 64), 0), ((16, 100, 120), 1), ((5000,), 0)]


@pytest.fixture
def cupy(monkeypatch):
    monkeypatch.setattr(repeated, "_workspaces", OwnWorkspaces())
    return pytest.importorskip("cupy")


def images(shape, count=4):
    random = np.random.default_rng(sum(shape))
    return [(random.random(shape) < p).astype(np.uint8) for p in np.linspace(0.3, 0.7, count)]


@pytest.mark.parametrize(("shape", "batch_axes"), SHAPES)
@pytest.mark.parametrize("numbering", ["consecutive", "roots"])
def test_labels_are_those_of_the_cpu(cupy, shape, batch_axes, numbering):
    torch = pytest.importorskip("torch")
    options = {"batch_axes": batch_axes, "numbering": numbering}
    for image in images(shape):
        expected, count = conncomp.label(image, return_num=True, **options)
        for placed in cupy.asarray(image), torch.as_tensor(image, device="cuda"):
            labels = conncomp.label(placed, **options)
            assert type(labels) is type(placed)
            np.testing.assert_array_equal(cupy.asnumpy(cupy.asarray(labels)), expected)
            labels, num = conncomp.label(placed, return_num=True, **options)
            np.testing.assert_array_equal(cupy.asnumpy(cupy.asarray(labels)), expected)
            np.testing.assert_array_equal(cupy.asnumpy(cupy.asarray(num)), count)
    (workspace,) = repeated._workspaces.held(0).values()
    assert len(workspace.calls) == 4


@pytest.mark.parametrize(("shape", "batch_axes"), SHAPES)
def test_labeller_in_a_graph(cupy, shape, batch_axes):
    labeller = conncomp.Labeller(shape, np.uint8, batch_axes=batch_axes)
    with cupy.cuda.Stream(non_blocking=True) as stream:
        image, labels = cupy.zeros(shape, np.uint8), cupy.empty(shape, np.int32)
        labeller(image, out=labels)
        stream.begin_capture()
        labeller(image, out=labels)
        graph = stream.end_capture()
        for host in images(shape):
            image.set(host)
            labels.fill(-7)
            graph.launch(stream)
            expected, count = conncomp.label(host, return_num=True, batch_axes=batch_axes)
            np.testing.assert_array_equal(labels.get(), expected)
            np.testing.assert_array_equal(labeller.counts.get(), count)


def test_streams_and_threads(cupy):
    hosts = images((300, 200), 8)
    expected = [conncomp.label(host) for host in hosts]
    failures = []

    def work(seed):
        with cupy.cuda.Stream(non_blocking=seed % 2 == 0):
            for k in np.random.default_rng(seed).integers(0, len(hosts), 200):
                if not (conncomp.label(cupy.asarray(hosts[k])).get() == expected[k]).all():
                    failures.append((seed, k))

    threads = [threading.Thread(target=work, args=[seed]) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_thread_that_used_no_gpu_before(cupy):
    torch = pytest.importorskip("torch")
    host = images((256, 256))[0]
    placed, results = torch.as_tensor(host, device="cuda"), []
    conncomp.label(placed)
    thread = threading.Thread(target=lambda: results.append(conncomp.label(placed)))
    thread.start()
    thread.join()
    np.testing.assert_array_equal(results[0].cpu().numpy(), conncomp.label(host))


def test_memory_that_is_freed_and_taken_anew(cupy):
    hosts = images((512, 512), 8)
    expected = [conncomp.label(host) for host in hosts]
    for k in np.random.default_rng(0).integers(0, len(hosts), 300):
        filler = cupy.empty(int(k) * 1000 + 1)
        labels = conncomp.label(cupy.asarray(hosts[k]))
        del filler
        if k % 3 == 0:
            cupy.get_default_memory_pool().free_all_blocks()
        assert (labels.get() == expected[k]).all()
