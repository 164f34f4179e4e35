"""What functions of arrays, graphs and labels return: for annotations and ``isinstance``."""

from conncomp.chunked.measures.volume_file import VolumeFile
from conncomp.chunked.volumes.plan import LabelPlan
from conncomp.components.matching import Matches, MatchScores
from conncomp.components.statistics import ComponentStatistics, ComponentTable
from conncomp.components.touching import Contacts
from conncomp.components.walking import Component
from conncomp.graph.labelling import Condensation
from conncomp.grid.wrapping import ComponentWrapping

__all__ = [
    "Component",
    "ComponentStatistics",
    "ComponentTable",
    "ComponentWrapping",
    "Condensation",
    "Contacts",
    "LabelPlan",
    "MatchScores",
    "Matches",
    "VolumeFile",
]
