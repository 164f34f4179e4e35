"""Numbers with units, as they are shown."""

from __future__ import annotations


def format_seconds(value: float) -> str:
    """Return a time with a unit.

    >>> format_seconds(0.0123456)
    '12.3 ms'
    """
    units = (1, "s"), (1e-3, "ms"), (1e-6, "µs")
    scale, unit = next((unit for unit in units if value >= 0.9995 * unit[0]), (1e-9, "ns"))
    return f"{_three_digits(value / scale)} {unit}"


def format_ratio(value: float | None) -> str:
    """Return a ratio with about three digits.

    >>> format_ratio(1234.5), format_ratio(2.3456), format_ratio(None)
    ('1,234', '2.35', '-')
    """
    return "-" if value is None else _three_digits(value)


def format_rate(value: float) -> str:
    """Return how many a second, with a prefix.

    >>> format_rate(1.23e8)
    '123 M'
    """
    prefixes = (1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")
    scale, prefix = next((prefix for prefix in prefixes if value >= prefix[0]), (1, ""))
    return _three_digits(value / scale) + prefix


def format_bytes(value: float) -> str:
    """Return a number of bytes, in powers of 1024.

    >>> format_bytes(17179869184)
    '16 GiB'
    """
    for power, unit in ((40, "TiB"), (30, "GiB"), (20, "MiB")):
        if value >= 1 << power:
            return f"{value / (1 << power):.3g} {unit}"
    return f"{value:,.0f} bytes"


def format_tick(value: float) -> str:
    """Return a number at an axis: a small one as it is, others as powers of ten.

    >>> format_tick(0.1), format_tick(1000.0), format_tick(1e-6), format_tick(2e7)
    ('0.1', '1000', '10⁻⁶', '2·10⁷')
    """
    if 1e-2 <= value <= 1e3:
        return f"{value:g}"
    factor, power = f"{value:e}".split("e")
    digits = str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{digits}" if float(factor) == 1 else f"{float(factor):g}·10{digits}"


def _three_digits(value: float) -> str:
    decimals = 0 if value >= 99.95 else 1 if value >= 9.995 else 2 if value >= 0.1 else 4
    return f"{value:,.{decimals}f}"
