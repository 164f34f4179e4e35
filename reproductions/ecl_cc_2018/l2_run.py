"""The program that Nsight Compute profiles for Table 3: ``python -m ...l2_run SIZE``."""

import sys

import conncomp
from conncomp.bench.devices import Cuda
from conncomp.bench.runner import make_input
from reproductions.ecl_cc_2018.l2 import JUMPS, inputs


def main(size: str) -> None:
    """Label each graph of Table 3 with each way to jump."""
    device = Cuda()
    for entry in inputs(size):
        with device.current():
            graph = device.place(make_input(entry, device))
            for jump in JUMPS:
                conncomp.connected_components(graph, algorithm="ecl", numbering="roots", jump=jump)


if __name__ == "__main__":
    main(*sys.argv[1:])
