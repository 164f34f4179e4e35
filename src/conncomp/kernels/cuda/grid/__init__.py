"""CUDA kernels that label arrays, and what drives them."""
