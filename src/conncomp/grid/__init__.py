"""Labelling arrays.

    arguments  ->  Question   _arguments.py, array.py       who is connected, and what is wanted
    array      ->  Array      array.py, _values.py          values as kernels read them, a question
    Array      ->  labels     answers.py, algorithms.py     `fill` of the algorithm in the table

By default an array in main memory goes from `repeated.py` straight to C++ (`native.ImageKind`), not
through the table; both ways end in `label_runs` of ``kernels/cpu/grid/runs.h``. Later calls with
the same key skip these steps, on a GPU, too. Chunks of Dask and of files on a CPU end in `KeptRuns`
of the same header, by `runs.py`. Users call `labelling.py` and `wrapping.py`.
"""

from conncomp.grid.labeller import Labeller
from conncomp.grid.labelling import label, label_bonds
from conncomp.grid.wrapping import cluster_wrapping, component_wrapping, percolates

__all__ = [
    "Labeller",
    "cluster_wrapping",
    "component_wrapping",
    "label",
    "label_bonds",
    "percolates",
]
