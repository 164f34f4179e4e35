"""What a paper says in words, beside what is measured, and the bounds within which that agrees."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from math import isfinite
from typing import Any, NamedTuple

from reproductions.published import read


class Bounds(NamedTuple):
    """From the lowest to the highest value that agrees; an infinite one is of a claim of order."""

    low: float
    high: float

    def hold(self, value: float) -> bool:
        """Whether a value agrees.

        Examples
        --------
        >>> [Bounds(4, 6).hold(value) for value in (3.9, 5, 6.1)]
        [False, True, False]
        """
        return self.low <= value <= self.high


@dataclass(frozen=True)
class Claim:
    """What a paper says in words, beside what is measured here.

    Attributes
    ----------
    says : str
        What the paper says, with its section.
    here : str
        What is measured here.
    holds : bool or None
        Whether the measured values agree; None if that is not judged.
    because : str
        Why it does not hold, or why it is not judged.
    value : float or None
        What is judged.
    within : Bounds or None
        Between what it agrees.
    of_inputs : bool
        Whether it is about inputs of the size that the paper has.
    """

    says: str
    here: str
    holds: bool | None
    because: str = ""
    value: float | None = None
    within: Bounds | None = None
    of_inputs: bool = True

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

    def unjudged(self, because: str) -> Claim:
        """Return the claim without a verdict, if it is about inputs, and why."""
        if not self.of_inputs or self.holds is None:
            return self
        return replace(self, holds=None, because=because)


def bounds_of(words: dict[str, Any], said: float | None = None) -> Bounds | None:
    """Return the bounds of a claim; None if nothing is measured that they would be held against.

    Parameters
    ----------
    words : dict
        Of the claim: ``within`` has the lowest and the highest value; or else the value that is
        said may be exceeded or missed by a ``factor``, or by a ``difference``.
    said : float, optional
        Instead of that in the words.

    Examples
    --------
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
    """What a paper says in words: ``claims.toml`` beside a module.

    Parameters
    ----------
    module : str
        The ``__file__`` of the module.
    """

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
        """Return a claim beside what is measured.

        Parameters
        ----------
        key : str
            The exhibit and the name of the claim, with a dot between.
        here : str
        value : float, optional
            Is held against the bounds of the claim.
        because : str, optional
            Instead of the reason in the file. It is told of claims that do not hold.
        **values
            Of the places in braces, in the claim and in the reason; `said` is what the bounds are
            of, if they are not in the file.
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

    Examples
    --------
    >>> share([True, False]), share([])
    (0.5, None)
    """
    known = [bool(flag) for flag in flags]
    return sum(known) / len(known) if known else None


def ratio(value: float | None, base: float | None) -> float | None:
    """Return a value over another one, if both are known."""
    return None if value is None or not base else value / base
