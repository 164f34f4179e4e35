"""Kernels for NVIDIA GPUs, and the Python that drives them."""
