"""A fifth model, made as `docs/adding_a_model.rst` says."""

from models.paramagnet.measurements import Magnetisations
from models.paramagnet.model import Paramagnet

__all__ = ["Magnetisations", "Paramagnet"]
