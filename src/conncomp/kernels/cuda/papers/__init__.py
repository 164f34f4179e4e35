"""The algorithms of the papers, each under its own name."""
