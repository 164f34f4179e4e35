"""The Potts model: its updates on CPU and GPU, and what they measure."""
