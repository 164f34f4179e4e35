"""Sizes, statistics and contacts of labelled components, on the GPU."""
