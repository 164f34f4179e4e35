"""Graphs, images and fields to test and to measure on, the same for the same seed everywhere."""

from conncomp.generate import random

__all__ = ["random"]
