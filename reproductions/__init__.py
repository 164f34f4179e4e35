"""Figures and tables of papers, measured again on this machine beside the published values."""

from reproductions.ecl_cc_2018 import ECL_CC_2018
from reproductions.hawick_2010 import HAWICK_2010
from reproductions.maddix_2014 import MADDIX_2014
from reproductions.paper import Paper
from reproductions.wang_2013 import WANG_2013
from reproductions.weigel_2011 import WEIGEL_2011

PAPERS: dict[str, Paper] = {
    paper.name: paper for paper in (ECL_CC_2018, HAWICK_2010, WEIGEL_2011, WANG_2013, MADDIX_2014)
}

__all__ = ["PAPERS"]
