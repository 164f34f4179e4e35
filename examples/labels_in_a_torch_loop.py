"""Counts the domains of a simulation of one's own, in its loop: PyTorch, one CUDA graph, no wait.

Usage: python examples/labels_in_a_torch_loop.py [SIDE]
"""

import sys

import torch

import conncomp


def count_domains(side, launches, steps=64):
    """Return the field, its domains and, after so many steps each, how many there were."""
    on_gpu = {"device": "cuda"}
    field = torch.rand((side, side), **on_gpu) * 2 - 1
    index = torch.arange(side * side, dtype=torch.int32, **on_gpu).reshape(side, side)
    roots, workspace = torch.empty_like(index), conncomp.Workspace()
    count, counts = torch.zeros((), dtype=torch.int64, **on_gpu), torch.zeros(launches, **on_gpu)

    def work():
        for _ in range(steps):
            around = sum(field.roll(by, axis) for by in (-1, 1) for axis in (0, 1))
            field.add_(0.1 * (around - 3 * field - field**3))
        options = {"numbering": "roots", "out": roots, "workspace": workspace}
        conncomp.label(field > 0, connectivity=1, periodic=True, **options)
        count.copy_((roots == index).sum())  # the root of a domain is its smallest index

    stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        work()  # compiles the kernels, and makes room in the workspace
        torch.cuda.synchronize()
        with torch.cuda.graph(graph, stream=stream):
            work()
        for k in range(launches):
            graph.replay()
            counts[k] = count  # the host is ahead by now
    torch.cuda.synchronize()
    return field, roots, counts


if __name__ == "__main__":
    print(count_domains(int(sys.argv[1]) if len(sys.argv) > 1 else 2048, 50)[2])
