"""Algorithms of the CPU, which `conncomp._native` compiles, and the Python that drives them."""
