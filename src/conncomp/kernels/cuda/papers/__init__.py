"""The algorithms of the papers, each under its own name.

A driver's `fill_roots` fills `roots` with the smallest index of each element's component, -1 for
background, or the smallest vertex of each vertex's component. For a graph it returns the number of
components, int64 of shape (1,) in `workspace`. It waits for the GPU, so it cannot be captured in a
CUDA graph, unless it says otherwise. Options are documented at `label` and `connected_components`.
"""
