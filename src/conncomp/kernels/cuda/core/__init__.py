"""Drivers that all algorithms use."""
