"""Makes a volume like a scan of porous rock: smooth noise, cut at the wanted porosity.

Usage: python examples/porous_rock.py OUT [SIDE [POROSITY]]

OUT is a file of NumPy (.npy) or a stack of TIFF images (.tif), of SIDE slices: 256 by default.
"""

import sys

import numpy as np
from scipy.ndimage import gaussian_filter

import conncomp


def porous_rock(side: int = 256, porosity: float = 0.12, seed: int = 7) -> np.ndarray:
    """Return a cube of uint8: 1 where there is a pore."""
    noise = np.random.default_rng(seed).standard_normal((side,) * 3, dtype=np.float32)
    smooth = gaussian_filter(noise, sigma=side / 64, mode="wrap")
    return (smooth > np.quantile(smooth, 1 - porosity)).astype(np.uint8)


if __name__ == "__main__":
    conncomp.write_image(
        sys.argv[1],
        porous_rock(*(kind(a) for kind, a in zip((int, float), sys.argv[2:], strict=False))),
    )
