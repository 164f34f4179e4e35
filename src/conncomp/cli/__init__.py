"""The `conncomp` command."""
