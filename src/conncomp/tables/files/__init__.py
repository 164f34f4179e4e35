"""Pairs in files: read by batches, within a limit of memory, and as datatrove has them."""
