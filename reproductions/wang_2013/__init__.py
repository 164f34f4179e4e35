"""Leyuan Wang 2013: hooking and pointer jumping after Soman, against a serial program."""

from reproductions.laboratory import Laboratory
from reproductions.paper import Paper, Show
from reproductions.wang_2013 import graphs, worked_example

WANG_2013 = Paper.read(
    __file__,
    {
        "worked-example": Show(
            worked_example.work_out, worked_example.draw_example, worked_example.claims_of_example
        ),
        "charities": Show(
            graphs.measure_charities, graphs.draw_charities, graphs.claims_of_charities
        ),
        "sizes": Show(graphs.measure_sizes, graphs.draw_sizes, graphs.claims_of_sweeps),
        "components": Show(
            graphs.measure_components, graphs.draw_components, graphs.claims_of_sweeps
        ),
        "rounds": Show(graphs.measure_rounds, graphs.draw_rounds, graphs.claims_of_rounds),
    },
    Laboratory,
)
