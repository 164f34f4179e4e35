"""``conncomp bench``."""

from conncomp.cli.bench.command import bench

__all__ = ["bench"]
