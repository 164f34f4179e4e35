"""Labels of arrays in chunks: those that the whole array would have, from one chunk at a time.

The way of a Dask array through this room, to which `_containers.function_for` sends `label`:

    dask_arrays.py   `label` takes the array
    rules.py         its arguments become `Rules`, and its chunks a `Layout`
    stages.py        `label_all` names the calls of three stages, chunk by chunk, to an engine
    dask_graph.py    the engine makes tasks of calls; `tree.call_now` would call at once
    dask_arrays.py   `LabelArray.compute` lets the tasks write into one array

A task needs a chunk and the faces of its neighbours, and none grows with the array. Chunks are
called in any order, anywhere. Beside this way lie

    volumes/        `label_file`: the same stages by an engine of threads or of workers (job.py)
    streams/        `stream_labels`: slabs one after another, each linked to the one before
    measures/       functions of labels in chunks, named as those in memory (`function_for` finds
                    them): each file has one's steps; dask_labels.py and volume_labels.py run them
    of_xarray.py    functions of the same names: they take names of axes off, and put them on again
"""
