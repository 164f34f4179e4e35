"""Volumes by how they lie in files: Zarr and OME-Zarr, HDF5, slices, and files read as a whole."""
