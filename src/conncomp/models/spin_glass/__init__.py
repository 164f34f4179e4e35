"""Ising spin glasses: their sweeps on CPU and GPU, and what is measured."""
