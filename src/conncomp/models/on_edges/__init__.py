"""Models on any edges, with any couplings and fields, on CPU and GPU."""
