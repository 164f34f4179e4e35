"""The equation of Cahn and Hilliard: its steps on CPU and GPU, and the domains of its fields."""
