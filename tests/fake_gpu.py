"""A GPU for the bench where there is none: streams, events and graphs on a clock of their own.

Only work given to the GPU moves the clock. Everything must go through a stream that is current.
"""

from functools import partial
from types import SimpleNamespace

import numpy as np

import conncomp
from stand_in import Array, CuPy

LAUNCH = 5e-6  # what a CUDA graph saves
LABELLING = 2e-5
COPY_RATE = 4e12
TRANSFER_RATE = 5e10


class Event:
    def __init__(self, gpu):
        self.gpu = gpu

    def record(self):
        assert self.gpu.current is not None
        self.time = self.gpu.now

    def synchronize(self):
        assert self.gpu.captured is None


class Stream:
    def __init__(self, gpu):
        self.gpu, self.outer = gpu, []

    def __enter__(self):
        assert self.gpu.current in (None, self)
        self.outer.append(self.gpu.current)
        self.gpu.current = self

    def __exit__(self, *error):
        self.gpu.current = self.outer.pop()

    def synchronize(self):
        self.gpu.wait()

    def begin_capture(self):
        assert self.gpu.current is self
        self.gpu.captured = []

    def end_capture(self):
        captured, self.gpu.captured = self.gpu.captured, None
        if "failed" in captured:
            raise RuntimeError("cudaErrorStreamCaptureInvalidated")
        return SimpleNamespace(launch=partial(self.gpu.replay, captured))


class FakeGpu(CuPy):
    """The module `cupy`, and what conncomp does on the GPU."""

    __version__ = "14.2.0"

    def __init__(self, connected_components, label):
        self._components, self._label = connected_components, label
        self.now, self.current, self.captured, self.freed = 0.0, None, None, 0
        self.free_bytes = 1 << 34
        self.cuda = SimpleNamespace(
            Event=partial(Event, self),
            Stream=partial(Stream, self),
            get_elapsed_time=lambda start, stop: 1e3 * (stop.time - start.time),
            runtime=SimpleNamespace(
                getDevice=lambda: 0,
                getDeviceProperties=lambda _: {"name": b"A GPU", "totalGlobalMem": 1 << 35},
                driverGetVersion=lambda: 13010,
                runtimeGetVersion=lambda: 13000,
                memGetInfo=lambda: (self.free_bytes, 1 << 35),
            ),
        )

    def get_default_memory_pool(self):
        def free_all_blocks():
            self.freed += 1

        return SimpleNamespace(free_all_blocks=free_all_blocks)

    def launch(self, seconds, work):
        """Do work, or record it in a graph that is being captured."""
        assert self.current is not None
        if self.captured is not None:
            self.captured.append((seconds, work))
        else:
            self.replay([(seconds, work)])
            self.now += LAUNCH

    def replay(self, captured):
        assert self.current is not None
        for seconds, work in captured:
            self.now += seconds
            work()

    def wait(self):
        """Wait for the GPU, which cannot be captured."""
        assert self.current is not None
        if self.captured is not None:
            self.captured.append("failed")
            raise RuntimeError("cudaErrorStreamCaptureUnsupported")

    def copyto(self, target, source):
        def work():
            target.host[...] = source.host

        self.launch(2 * source.nbytes / COPY_RATE, work)

    def asarray(self, values, dtype=None):
        if not isinstance(values, Array):
            self.wait()
            self.now += np.asarray(values).nbytes / TRANSFER_RATE
        return super().asarray(values, dtype)

    def asnumpy(self, values):
        self.wait()
        self.now += values.nbytes / TRANSFER_RATE
        return super().asnumpy(values)

    def move_graph(self, graph, device):
        """Do what `Graph.to` does."""
        assert device == "cuda"
        return SimpleNamespace(
            host=graph,
            num_vertices=graph.num_vertices,
            num_arcs=graph.num_arcs,
            indptr=self.asarray(graph.indptr),
            indices=self.asarray(graph.indices),
        )

    def connected_components(self, graph, *, connection, numbering, out, algorithm, workspace):
        assert algorithm in ("auto", "plain")
        assert isinstance(workspace, conncomp.Workspace)
        self.fill(out, numbering, partial(self._components, graph.host, connection=connection))
        return "a count that would have to be waited for", out

    def label(self, image, *, connectivity, numbering, out, algorithm, workspace):
        assert algorithm in ("auto", "plain")
        assert isinstance(workspace, conncomp.Workspace)
        self.fill(out, numbering, partial(self._label, image.host, connectivity=connectivity))
        return out

    def fill(self, out, numbering, find):
        """Label on the GPU; consecutive numbers need to know how many there are."""

        def work():
            find(numbering=numbering, out=out.host)

        self.launch(LABELLING, work)
        if numbering == "consecutive":
            self.wait()
