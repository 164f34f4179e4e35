"""The three stages, chunk by chunk, against the labels of the whole array."""

import numpy as np
import pytest

import conncomp
from chunked_cases import assembled, pieces_of, random_bonds, random_case
from conncomp.chunked import call_now, label_all, rules_of_bonds, rules_of_image, union
from conncomp.chunked.stages import Labelled
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
    result = label_all(call_now, layout, rules, pieces, numbering, dtype, pieces if again else None)
    return assembled(result.labels, layout, dtype), counts_of(result, layout)


@pytest.mark.parametrize("part", range(8))
def test_images(part, monkeypatch):
    """Hundreds of cases; every second one by unions of few regions, so that the tree is high."""
    for seed in range(60 * part, 60 * part + 60):
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
    for seed in range(1000, 1060):
        image, chunks, arguments = random_case(seed)
        layout, rules = rules_of_image(chunks, image.dtype, **arguments)
        if layout.crossed:
            labels, _ = label_in_chunks(image, layout, rules, "roots")
            want = label_by_flood_fill(image, **arguments)
            np.testing.assert_array_equal(labels, want, err_msg=str(seed))


@pytest.mark.parametrize("part", range(2))
def test_bonds(part):
    for seed in range(60 * part, 60 * part + 60):
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


@pytest.mark.parametrize("numbering", ["roots", "consecutive"])
def test_labels_that_were_kept_are_replaced_in_place_once(numbering):
    image = np.random.default_rng(0).random((6, 8)) < 0.6
    layout, rules = rules_of_image(((3, 3), (8,)), image.dtype)
    values, calls = pieces_of(image, layout), []

    def call(name, index, function, *arguments):
        result = function(*arguments)
        if name in ("roots", "numbers"):
            calls.append((function, arguments, result))
        return result

    label_all(call, layout, rules, values, numbering, np.dtype(np.int32))
    want = conncomp.label(image, numbering=numbering)
    for place, (function, arguments, result) in zip((slice(3), slice(3, 6)), calls, strict=True):
        labelled = next(each for each in arguments if isinstance(each, Labelled))
        assert result is labelled.labels.labels
        np.testing.assert_array_equal(result, want[place])
        assert function(*arguments) is result  # as of a scheduler that asks once more
        np.testing.assert_array_equal(result, want[place])
        labelled.used_up[0] = None
        with pytest.raises(RuntimeError, match="half-way; compute them again"):
            function(*arguments)


@pytest.mark.parametrize("change", ["read-only", "int64"])
def test_labels_that_cannot_be_replaced_in_place_stay(change):
    image = np.random.default_rng(0).random((6, 8)) < 0.6
    layout, rules = rules_of_image(((3, 3), (8,)), image.dtype)
    kept = []

    def call(name, index, function, *arguments):
        result = function(*arguments)
        if name == "label":
            result.labels.labels.flags.writeable = change != "read-only"
            kept.append((result.labels.labels, result.labels.labels.copy()))
        return result

    dtype = np.dtype(np.int64 if change == "int64" else np.int32)
    result = label_all(call, layout, rules, pieces_of(image, layout), "consecutive", dtype)
    np.testing.assert_array_equal(assembled(result.labels, layout, dtype), conncomp.label(image))
    for labels, before in kept:
        np.testing.assert_array_equal(labels, before)
