"""Labels of Dask arrays: graphs of tasks for any of its schedulers."""
