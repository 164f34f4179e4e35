"""What updates can measure besides, by name: each is a file that says what, how, and its source."""

from conncomp.models.observables.series import Observed, ObservedSeries

__all__ = ["Observed", "ObservedSeries"]
