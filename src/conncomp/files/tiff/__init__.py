"""TIFF, and the images of OME in one file or several, under limits."""
