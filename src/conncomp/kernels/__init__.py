"""The kernels, as C++ and CUDA C++ sources, and beside each CUDA kernel the Python that drives it."""
