"""Models of spins on lattices and graphs: the updates that all of them have, defined once."""
