"""Labels of arrays in chunks: those that the whole array would have, from one chunk at a time.

The way of a Dask array through the rooms; volumes in files have engines and files of their own:

    dask_arrays.py   `label` is given the array
    rules.py         its arguments become `Rules`, and its chunks a `Layout`
    stages.py        `label_all` tells an engine what to call, in three stages, and of which chunks
    dask_graph.py    the engine makes tasks of calls; `tree.call_now` would call at once
    dask_arrays.py   `LabelArray.compute` lets the tasks write into one array

A task needs a chunk and what lies on faces of others, and none grows with the array. Chunks are
called in any order and anywhere.
"""
