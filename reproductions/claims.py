"""What a paper says in words, beside what is measured, and the bounds within which that agrees."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from math import isfinite
from typing import Any, NamedTuple, Self

from reproductions.published import read


class Bounds(NamedTuple):
    """From the lowest to the highest value that agrees; an infinite one is of a claim of order."""

    low: float
    high: float

    def hold(self, value: float) -> bool:
        """Whether a value agrees.

        >>> [Bounds(4, 6).hold(value) for value in (3.9, 5, 6.1)]
        [False, True, False]
        """
        return self.low <= value <= self.high


@dataclass(frozen=True)
class Claim:
    """What a paper says in words, beside what is measured here."""

    says: str  # what the paper says, with its section
    here: str  # what is measured here
    holds: bool | None  # whether the measured values agree; None if that is not judged
    because: str = ""  # why it does not hold, or why it is not judged
    value: float | None = None  # what is judged
    within: Bounds | None = None  # between what it agrees
    of_inputs: bool = True  # whether it is about inputs of the size that the paper has

    @property
    def fails(self) -> bool:
        """Whether the measured values do not agree."""
        return self.holds is not None and not self.holds

    def as_dict(self) -> dict[str, Any]:
        """Return the attributes, as JSON takes them: None stands for a bound that is infinite."""
        known = asdict(self) | {"holds": None if self.holds is None else bool(self.holds)}
        if self.value is not None:
            known["value"] = float(self.value) if isfinite(self.value) else None
        if self.within is not None:
            known["within"] = [bound if isfinite(bound) else None for bound in self.within]
        return known

    def unjudged(self, because: str) -> Self:
        """Return the claim without a verdict, if it is about inputs, and why."""
        if not self.of_inputs or self.holds is None:
            return self
        return replace(self, holds=None, because=because)


def bounds_of(words: dict[str, Any], said: float | None = None) -> Bounds | None:
    """Return the bounds of a claim's words, or None if there are none.

    The words have a lowest and a highest value ``within``; or else a value that is `said`, here or
    there, may be exceeded or missed by a ``factor``, or by a ``difference``.

    >>> bounds_of({"within": [1, 1.5]})
    Bounds(low=1, high=1.5)
    >>> bounds_of({"said": 5, "factor": 1.25}), bounds_of({"difference": 0.5}, 2)
    (Bounds(low=4.0, high=6.25), Bounds(low=1.5, high=2.5))
    """
    if "within" in words:
        return Bounds(*words["within"])
    said = words.get("said") if said is None else said
    if said is None:
        return None
    if "factor" in words:
        return Bounds(said / words["factor"], said * words["factor"])
    if "difference" in words:
        return Bounds(said - words["difference"], said + words["difference"])
    return None


class Words:
    """What a paper says in words: ``claims.toml`` beside the `module` of this ``__file__``."""

    def __init__(self, module: str) -> None:
        self.claims: dict[str, dict[str, dict[str, Any]]] = read(module, "claims")
        self.reasons: dict[str, str] = self.claims.pop("reasons", {})  # type: ignore[assignment]

    def claim(
        self,
        key: str,
        here: str,
        value: float | None = None,
        because: str | None = None,
        **values: Any,
    ) -> Claim:
        """Return a claim, by the exhibit and its name with a dot between, beside what is measured.

        `value` is held against the claim's bounds. `because` takes the place of the reason in the
        file for claims that do not hold. `values` fill the places in braces of the claim and the
        reason; `said` is what the bounds are of, if it is not in the file.
        """
        exhibit, _, name = key.partition(".")
        words = self.claims[exhibit][name]
        within = bounds_of(words, values.get("said") if "within" not in words else None)
        claim = Claim(
            words["says"].format(**values),
            here,
            None if value is None or within is None else within.hold(value),
            value=value,
            within=within,
            of_inputs=words.get("of_inputs", True),
        )
        if not claim.fails:
            return claim
        if because is None:
            reason = words.get("because") or self.reasons.get(words.get("reason", ""), "")
            because = reason.format(**values)
        return replace(claim, because=because)


def share(flags: Iterable[bool]) -> float | None:
    """Return which share of some flags are true; None if there are none.

    >>> share([True, False]), share([])
    (0.5, None)
    """
    known = [bool(flag) for flag in flags]
    return sum(known) / len(known) if known else None


def ratio(value: float | None, base: float | None) -> float | None:
    """Return a value over another one, if both are known."""
    return None if value is None or not base else value / base
