"""The Ising model with exchange dynamics: its sweeps on CPU and GPU, and what is measured."""
