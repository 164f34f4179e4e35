"""Percolation: configurations on CPU and GPU, sweeps, and what both measure."""
