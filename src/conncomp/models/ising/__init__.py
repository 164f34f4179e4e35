"""The Ising model on any lattice: its updates on CPU and GPU, and what they measure."""
