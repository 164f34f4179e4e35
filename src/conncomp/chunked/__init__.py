"""Labels of arrays in chunks: those that the whole array would have, from one chunk at a time.

The way of a Dask array through this room:

    dask_arrays.py   `label` is given the array
    rules.py         its arguments become `Rules`, and its chunks a `Layout`
    stages.py        `label_all` tells an engine what to call, in three stages, and of which chunks
    dask_graph.py    the engine makes tasks of calls; `tree.call_now` would call at once
    dask_arrays.py   `LabelArray.compute` lets the tasks write into one array

A task needs a chunk and the faces of its neighbours, and none grows with the array. Chunks are
called in any order, anywhere. Beside this way lie

    volumes/        `label_file`: the same stages by an engine of threads or of workers (job.py)
    streams/        `stream_labels`: slabs one after another, each linked to the one before
    measures/       functions of labels; dask_labels.py and volume_labels.py read, call, merge
    of_xarray.py    names of axes, taken off before and put on again after
"""
