"""Counts the domains of a simulation of one's own, in its loop: CuPy, one CUDA graph, no wait.

Usage: python examples/labels_in_a_loop.py [SIDE]
"""

import sys

import cupy

import conncomp

ALLEN_CAHN = """
int n = u.shape()[1], x = i % n, row = i - x, size = u.size();
float around = u[row + (x + 1) % n] + u[row + (x + n - 1) % n] + u[(i + n) % size]
             + u[(i + size - n) % size];
next = u[i] + 0.1f * (around - 3 * u[i] - u[i] * u[i] * u[i]);
"""
relax = cupy.ElementwiseKernel("raw float32 u", "float32 next", ALLEN_CAHN, "relax")


def count_domains(side, launches, steps=64):
    """Return the field, its domains and, after so many steps each, how many there were."""
    field = cupy.random.default_rng(1).uniform(-1, 1, (side, side)).astype("float32")
    after, above = cupy.empty_like(field), cupy.empty(field.shape, "?")
    index = cupy.arange(field.size, dtype="int32").reshape(field.shape)
    roots, workspace = cupy.empty_like(index), conncomp.Workspace()
    is_root, counts = cupy.empty_like(above), cupy.zeros(launches, "int64")

    def work():
        for _ in range(steps // 2):
            relax(field, after)
            relax(after, field)
        cupy.greater(field, 0, out=above)
        options = {"numbering": "roots", "out": roots, "workspace": workspace}
        conncomp.label(above, connectivity=1, periodic=True, **options)
        cupy.equal(roots, index, out=is_root)  # the root of a domain is its smallest index

    with cupy.cuda.Stream() as stream:
        work()  # compiles the kernels, and makes room in the workspace
        stream.begin_capture()
        work()
        graph = stream.end_capture()
        for k in range(launches):
            graph.launch(stream)
            cupy.sum(is_root, out=counts[k])  # the host is ahead by now
        stream.synchronize()
    return field, roots, counts


if __name__ == "__main__":
    print(count_domains(int(sys.argv[1]) if len(sys.argv) > 1 else 2048, 50)[2])
