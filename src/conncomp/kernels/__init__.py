"""The kernels in C++ and CUDA C++, and beside each CUDA kernel the Python that drives it."""
