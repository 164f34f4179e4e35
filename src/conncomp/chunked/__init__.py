"""What is larger than memory: streams of slabs."""
