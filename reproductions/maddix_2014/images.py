"""The report's pictures of images and of their components."""

import zlib
from base64 import b64decode, b64encode
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conncomp import label
from conncomp.bench.runner import reference
from reproductions.claims import Claim
from reproductions.laboratory import Laboratory, Row
from reproductions.maddix_2014.measurements import images
from reproductions.maddix_2014.published import claim
from reproductions.paper import Findings

SHOWN = 120  # pixels along each side of a picture
COLOURS = 251  # a prime, so that consecutive labels are told apart
MULTIPLIER = 97


def label_images(laboratory: Laboratory) -> Findings:
    return {
        "rows": [_labelled(laboratory, entry) for entry in images(laboratory)],
        "fits": {},
        "published": {"shown": ["smallstanford", "smallballs", "maze", "maze2"]},
    }


def _labelled(laboratory: Laboratory, entry: Any) -> Row:
    image = laboratory.data(entry)
    labels = laboratory.device.fetch(
        label(laboratory.device.place(image), connectivity=entry.connectivity)
    )
    right = reference(image, entry.connectivity)
    # One pixel wide, the ways of a maze are lost where pixels are left out.
    stride = 1 if entry.name.startswith("maze") else -(-max(image.shape) // SHOWN)
    shown = slice(0, stride * SHOWN, stride)
    return {
        "image": entry.name,
        "shape": list(image.shape),
        "components": int(labels.max(initial=0)),
        "reference_components": right.components,
        "equal": bool(np.array_equal(labels, right.labels)),
        "stride": stride,
        "picture": _packed(image[shown, shown]),
        "picture_of_labels": _packed(_colours(labels[shown, shown])),
    }


def _colours(labels: NDArray[Any]) -> NDArray[np.uint8]:
    """Return a number below 256 for each label, 0 for background alone."""
    coloured = labels.astype(np.int64) * MULTIPLIER % COLOURS + 1
    return np.where(labels == 0, 0, coloured).astype(np.uint8)


def _packed(pixels: NDArray[np.uint8]) -> dict[str, Any]:
    compressed = zlib.compress(pixels.tobytes())
    return {"shape": list(pixels.shape), "zlib": b64encode(compressed).decode()}


def _unpacked(packed: dict[str, Any]) -> NDArray[np.uint8]:
    rows, columns = packed["shape"]
    pixels = zlib.decompressobj().decompress(b64decode(packed["zlib"]), rows * columns)
    return np.frombuffer(pixels, np.uint8).reshape(rows, columns)


def draw_images(findings: Findings, canvas: Any) -> None:
    canvas.set_size_inches(9, 9.5)
    panels = canvas.subplots(4, 4).flat
    for row in findings["rows"]:
        whole = max(row["shape"]) <= row["stride"] * SHOWN
        part = (
            f"1 pixel of {row['stride']}" if row["stride"] > 1 else "whole" if whole else "corner"
        )
        for field, colours, title in (
            ("picture", "gray", f"{row['image']}, {part}"),
            ("picture_of_labels", "nipy_spectral", f"components: {row['components']:,}"),
        ):
            panel = next(panels)
            panel.imshow(_unpacked(row[field]), cmap=colours, interpolation="nearest")
            panel.set_title(title, fontsize="small")
            panel.axis("off")


def claims_of_images(findings: Findings) -> list[Claim]:
    rows = findings["rows"]
    right = all(row["equal"] for row in rows)
    counts = ", ".join(f"{row['image']} {row['components']:,}" for row in rows)
    return [
        claim(
            "images.correct",
            f"{'all' if right else 'not all'} labels are those of scikit-image; components: "
            f"{counts}",
            float(right),
        )
    ]
