"""Spin models on the GPU: the drivers of their kernels."""
