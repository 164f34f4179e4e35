"""``conncomp measure``."""

from conncomp.cli.measure.command import measure

__all__ = ["measure"]
