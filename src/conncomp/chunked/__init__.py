"""Labels of arrays in chunks: those that the whole array would have, from one chunk at a time.

Three stages, as functions of the chunks that an engine hands them, in any order and anywhere:

    labelling.py      each chunk alone, and a report of what lies on its faces
    rules.py          pairs of components of neighbouring chunks that are one
    union.py          a tree of small unions of these, up, and tables of what roots became, down
    numbering.py      counts of roots and sizes of parts, up; numbers before and sums, down
    tree.py           all of these, by an engine
    selection.py      which of them are kept, for the third stage
    relabelling.py    each chunk once more, by its part of the table

`stages.label_all` tells an engine what to call; `tree.call_now` is one. A task needs a chunk and
what lies on faces of others, and none grows with the array.
"""
