"""Whether the first row of a CSV file is a header."""

import pytest

from conncomp.files.csv_header import ROWS, SAMPLE, judge_first_row, rows_of

CASES = {
    # Rows, whether the first one is a header, and whether that is clear.
    "source,target\ntarget,x": (True, True),
    "l,r,score\nann,anne,0.9\nbob,rob,0.8": (True, True),
    "person,friend\nann,bob": (True, True),
    "node_1,node_2\nann,bob": (True, True),
    "Record ID,doc2\nann,bob": (True, True),
    "u,v\n1,2": (True, True),
    "u,v\n1,2\nx,3": (True, True),
    "u,v\n1,2\nv,3": (False, False),
    "u,v": (True, True),
    "1,2": (False, True),
    "1,2\n3,4": (False, True),
    "1,x\n2,y": (False, True),
    "ann,bob,0.5\ncarl,dora,0.25": (False, True),
    "0.5,x\nx,0.5": (False, False),
    "ann,bob\nbob,carl": (False, False),
    "ann,bob\ncarl,dora": (False, False),
    "Ada,Grace\nEmmy,Sofia": (False, False),
    "user17,user3\nuser5,user9": (False, False),
    "doc_1,doc_2\ndoc_3,doc_4": (False, False),
    "ann,ann\nbob,carl": (False, False),
    "aid,bill\nann,carl": (False, False),
    "knows,known\nAda,Grace": (True, True),
    "Knows,Known by\nann lee,bob ray": (True, False),
    "0,1\nann,bob": (True, False),
    "a,b\nb,c": (False, False),
}


@pytest.mark.parametrize("text", CASES)
@pytest.mark.parametrize("separator", [",", "\t"])
def test_first_rows(text, separator):
    rows, lines = rows_of(text.replace(",", separator).encode(), separator)
    assert tuple(judge_first_row(rows, (0, 1))) == CASES[text]
    assert lines == 1


def test_rows_of_a_sample():
    assert rows_of(b"", ",") == ([], 0)
    assert rows_of(b'\xef\xbb\xbf\n\r\n"a\r\nb",c\rd,"e', ",") == ([["a\r\nb", "c"]], 4)
    assert len(rows_of(b"a,b\n" * 1000, ",")[0]) == ROWS
    cut = b"a,b\n" + b"c" * SAMPLE
    assert rows_of(cut[:SAMPLE], ",")[0] == [["a", "b"]]
    assert rows_of(b"\xff,b\n", ",")[0] == [["\udcff", "b"]]
