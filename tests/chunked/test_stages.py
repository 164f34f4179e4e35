"""The three stages, chunk by chunk, against the labels of the whole array."""

from dataclasses import replace

import numpy as np
import pytest

import conncomp
from chunked_cases import assembled, pieces_of, random_bonds, random_case
from conncomp.chunked import relabelling, union
from conncomp.chunked.rules import rules_of_bonds, rules_of_image
from conncomp.chunked.stages import label_all
from conncomp.chunked.tree import call_now, entry_of
from conncomp.grid.runs import Placed, write_together
from dealt import examples
from reference import label_by_bonds, label_by_flood_fill

NUMBERINGS = ["roots", "consecutive"]


def counts_of(result, layout):
    """Return the number of components of each item."""
    counts = np.zeros(layout.shape[: layout.batch_axes], np.int64)
    for block, given in result.counts.items():
        begins = layout.start((*block, *(0,) * (len(layout.shape) - len(block))))
        lengths = [layout.lengths[k][b] for k, b in enumerate(block)]
        place = tuple(slice(a, a + n) for a, n in zip(begins, lengths, strict=False))
        counts[place] = given.reshape(lengths)
    return counts


def label_in_chunks(values, layout, rules, numbering, again=False):
    pieces = pieces_of(values, layout, int(rules.planes))
    dtype = np.dtype(np.int32)
    consecutive = numbering == "consecutive"
    rules = replace(rules, question=replace(rules.question, consecutive=consecutive, dtype=dtype))
    result = label_all(call_now, layout, rules, pieces, pieces if again else None)
    return assembled(result.labels, layout, dtype), counts_of(result, layout)


@pytest.mark.parametrize("part", range(8))
def test_images(part, monkeypatch):
    """Hundreds of cases; every second one by unions of few regions, so that the tree is high."""
    for seed in range(60 * part, 60 * part + examples(60)):
        image, chunks, arguments = random_case(seed)
        monkeypatch.setattr(union, "GROUP", [64, 4][seed % 2])
        layout, rules = rules_of_image(chunks, image.dtype, **arguments)
        if not layout.crossed:
            continue
        for numbering, again in zip(NUMBERINGS, [seed % 3 == 0, seed % 3 == 1], strict=True):
            labels, counts = label_in_chunks(image, layout, rules, numbering, again)
            want, num = conncomp.label(image, return_num=True, numbering=numbering, **arguments)
            np.testing.assert_array_equal(labels, want, err_msg=f"{seed} {numbering}")
            np.testing.assert_array_equal(counts, num, err_msg=f"{seed} {numbering}")


def test_images_by_flood_fill():
    for seed in range(1000, 1000 + examples(60)):
        image, chunks, arguments = random_case(seed)
        layout, rules = rules_of_image(chunks, image.dtype, **arguments)
        if layout.crossed:
            labels, _ = label_in_chunks(image, layout, rules, "roots")
            want = label_by_flood_fill(image, **arguments)
            np.testing.assert_array_equal(labels, want, err_msg=str(seed))


@pytest.mark.parametrize("part", range(2))
def test_bonds(part):
    for seed in range(60 * part, 60 * part + examples(60)):
        bonds, chunks, arguments = random_bonds(seed)
        planes = bonds.dtype == bool
        ahead = ((len(bonds),),) if planes else ()
        layout, rules = rules_of_bonds((*ahead, *chunks), bonds.dtype, **arguments)
        if not layout.crossed:
            continue
        for numbering in NUMBERINGS:
            labels, counts = label_in_chunks(bonds, layout, rules, numbering)
            want, num = conncomp.label_bonds(
                bonds, return_num=True, numbering=numbering, **arguments
            )
            np.testing.assert_array_equal(labels, want, err_msg=str(seed))
            np.testing.assert_array_equal(counts, num, err_msg=str(seed))
        if planes:
            labels, _ = label_in_chunks(bonds, layout, rules, "roots")
            np.testing.assert_array_equal(labels, label_by_bonds(bonds, **arguments))


@pytest.mark.parametrize("numbering", NUMBERINGS)
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.int16])
def test_the_last_stage_may_be_called_twice_and_write_to_places(numbering, dtype, monkeypatch):
    """As of a scheduler that asks once more; what places lie in is larger than them."""
    monkeypatch.setattr(relabelling, "PIECE", 20)  # so that places are written in pieces
    image = np.random.default_rng(0).random((6, 8)) < 0.6
    chunks = ((3, 3), (5, 3))
    layout, rules = rules_of_image(chunks, image.dtype, numbering=numbering, dtype=dtype)
    values, want = pieces_of(image, layout), conncomp.label(image, numbering=numbering)
    before, out = (
        {index: each.copy() for index, each in values.items()},
        np.zeros(want.shape, dtype),
    )

    def call(name, index, function, *given):
        arguments = [*map(entry_of, given)]
        result = function(*arguments)
        if function is relabelling.relabel:
            kept, place = result.copy(), layout.place(index)
            np.testing.assert_array_equal(kept, want[place])
            np.testing.assert_array_equal(function(*arguments), kept)
            np.testing.assert_array_equal(result, kept)
            made = function(*arguments, out=out[place])
            if isinstance(made, Placed):
                assert not out[place].any()
                write_together([made])
                made = made.out
            assert made.base is out
            np.testing.assert_array_equal(out[place], kept)
        return result

    result = label_all(call, layout, rules, values)
    np.testing.assert_array_equal(out, assembled(result.labels, layout, np.dtype(dtype)))
    for index, each in values.items():
        np.testing.assert_array_equal(each, before[index])
