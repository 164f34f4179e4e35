"""Spins that are unit vectors, by Wolff's embedding: XY, Heisenberg, clock and O(n) models."""
