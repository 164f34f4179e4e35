"""``conncomp label``."""

from conncomp.cli.label.command import label

__all__ = ["label"]
