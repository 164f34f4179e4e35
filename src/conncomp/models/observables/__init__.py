"""The observables that users ask for by name, a file each."""
