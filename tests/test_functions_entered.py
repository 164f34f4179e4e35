"""How many functions small calls enter, which may only fall: lower a bound when it can be."""

from benchmarks.functions_entered import figures, functions_entered

MOST = {
    "first label of a NumPy array": 29,
    "repeated label of a NumPy array": 4,
    "swendsen_wang(1) of a Potts model on the CPU": 19,
    "chunk of 64² of a Dask label, made": 11,
    "chunk of 64² of a Dask label, computed": 44,
}


def test_no_call_enters_more():
    found = figures()
    assert list(found) == list(MOST)
    assert {name: number for name, number in found.items() if number > MOST[name]} == {}


def test_what_counts():
    from conncomp._arguments import as_bool

    def here():
        return [as_bool("a", True) for _ in range(3)]

    assert functions_entered(here) == 3
