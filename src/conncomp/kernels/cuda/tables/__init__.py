"""Tables of pairs on the GPU."""
