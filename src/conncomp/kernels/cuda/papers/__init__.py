"""The algorithms of the papers, each under its own name.

A driver fills `roots` with the smallest index (or vertex) of each element's component, -1 for
background. For a graph it returns the number of components, int64, (1,), in `workspace`. It waits
for the GPU unless it says otherwise. `label` and `connected_components` document the options.
"""
