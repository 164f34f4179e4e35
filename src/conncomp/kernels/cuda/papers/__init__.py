"""The algorithms of the papers, each under its own name.

A driver's `fill_roots` fills `roots` with the smallest index of each element's component, -1 for
background, or with the smallest vertex of each vertex's component. Of a graph it returns how many
there are, an array of int64 of shape (1,) in `workspace`. It waits for the GPU, so it cannot be
captured in a CUDA graph, but where it says otherwise. Its options are those that `label` and
`connected_components` document.
"""
