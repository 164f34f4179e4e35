"""Figures of papers, measured again on this machine and drawn beside the published values."""

from __future__ import annotations

from conncomp.bench.papers.hawick_2010 import HAWICK_2010
from conncomp.bench.papers.paper import Figure, Findings, Paper, draw, measure, output_files
from conncomp.bench.papers.weigel_2011 import WEIGEL_2011

PAPERS: dict[str, Paper] = {paper.name: paper for paper in (WEIGEL_2011, HAWICK_2010)}

__all__ = ["PAPERS", "Figure", "Findings", "Paper", "draw", "measure", "output_files"]
