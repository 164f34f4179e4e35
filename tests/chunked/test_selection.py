"""Components that are kept by their sizes while labels are written, held against the whole."""

import numpy as np
import pytest

import conncomp
from chunked_cases import assembled, pieces_of, random_case
from conncomp.chunked import selection, union
from conncomp.chunked.rules import rules_of_image
from conncomp.chunked.selection import Selected, Selection, merged_summaries
from conncomp.chunked.stages import label_all
from conncomp.chunked.tree import call_now
from dealt import examples


def selected_in_memory(labels, wanted, background, batch_axes):
    options = {"background": background, "batch_axes": batch_axes}
    kept = conncomp.remove_small_components(labels, min(wanted.least, labels.size + 1), **options)
    if wanted.largest is not None:
        kept = conncomp.largest_components(kept, min(wanted.largest, kept.size), **options)
    return kept


@pytest.mark.parametrize("part", range(6))
def test_of_random_images(part, monkeypatch):
    """Of 240 cases in a soak: labels, how many components are kept, and how many elements."""
    for seed in range(1000 + 40 * part, 1000 + 40 * part + examples(40)):
        rng = np.random.default_rng(seed)
        image, chunks, arguments = random_case(seed)
        for module in (union, selection):
            monkeypatch.setattr(module, "GROUP", [64, 4][seed % 2])
        numbering = ["roots", "consecutive"][seed % 2]
        dtype = np.dtype([np.int32, np.int64][seed % 5 == 0])
        asked = {**arguments, "numbering": numbering, "dtype": dtype}
        layout, rules = rules_of_image(chunks, image.dtype, **asked)
        wanted = Selection(
            *(int(rng.choice([0, 1, 2, 4, 30])), [None, 0, 1, 3, 40][rng.integers(5)]),
            listed=[0, 1, 5][seed % 3],
        )
        values = pieces_of(image, layout)
        again = values if seed % 3 else None
        result = label_all(call_now, layout, rules, values, again, wanted)
        labels = result.labels
        if layout.crossed:
            assert all(isinstance(chunk, Selected) for chunk in labels.values())
            tallies = np.sum([chunk[1:3] for chunk in labels.values()], axis=0)
            summaries = [chunk.summary for chunk in labels.values()]
        labels = {index: chunk.labels for index, chunk in labels.items()}
        found = assembled(labels, layout, dtype)
        whole = conncomp.label(image, numbering=numbering, **arguments)
        background = -1 if numbering == "roots" else 0
        batch_axes = arguments["batch_axes"]
        expected = selected_in_memory(whole, wanted, background, batch_axes)
        np.testing.assert_array_equal(found, expected, err_msg=str(seed))
        if layout.crossed:
            items = expected.reshape(-1, *expected.shape[batch_axes:])
            components = sum(len(np.unique(item[item != background])) for item in items)
            assert tallies.tolist() == [components, np.count_nonzero(expected != background)]
            if wanted.listed:
                items = whole.reshape(-1, *whole.shape[batch_axes:])
                check_summary(merged_summaries(summaries, wanted.listed), items, background, wanted)


def check_summary(summary, items, background, wanted):
    """Hold a summary against all components of each item."""
    components = []
    for k, item in enumerate(items):
        labels, sizes = np.unique(item[item != background], return_counts=True)
        components += [(-size, k, label) for label, size in zip(labels, sizes, strict=True)]
    largest = [(-size, item, label) for size, item, label in sorted(components)[: wanted.listed]]
    np.testing.assert_array_equal(summary.largest, np.reshape(largest, (-1, 3)))
    for digits, row in enumerate(summary.by_digits.tolist(), 1):
        sizes = [-size for size, *_ in components if len(str(-size)) == digits]
        assert row == [len(sizes), sum(sizes)]
