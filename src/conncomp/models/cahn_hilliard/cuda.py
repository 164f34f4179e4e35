"""The equation of Cahn and Hilliard on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from conncomp._arguments import INDEX_TYPES, as_bool, check_choice
from conncomp.grid._arguments import check_neighbourhood
from conncomp.grid.answers import answer, fill_on_gpu
from conncomp.grid.array import Array, Question
from conncomp.kernels.cuda.grid import tiled_bricks
from conncomp.kernels.cuda.models.cahn_hilliard import GpuFields
from conncomp.kernels.links import equal_values, values_above
from conncomp.models.cahn_hilliard.cpu import above, count_domains


class FieldEngine(GpuFields):
    """Steps of the fields of replicas, and their domains, on a GPU."""

    def count_domains(self, threshold: float, field: Any, records: Any) -> None:
        """Count the domains of both phases into records."""
        if self._clusters is not None:
            self._count_by_bricks(threshold, field, records)
        else:
            count_domains(self.xp, self._lattice, above(threshold, field), self.workspace, records)

    def labels(
        self, threshold: float, field: Any, connectivity: Any, numbering: Any, return_num: Any
    ) -> Any:
        """Return labels of the cells above a threshold, of one field or of each of several."""
        shape, batch_axes = self._lattice.shape, field.ndim - self._lattice.ndim
        neighbourhood = check_neighbourhood(connectivity, None, True, shape, "the field")
        counted = as_bool("return_num", return_num)
        check_choice("numbering", numbering, ("consecutive", "roots"))
        consecutive = numbering == "consecutive"
        how: Any = {"consecutive": consecutive, "counted": counted, "device": "cuda"}
        question = Question(neighbourhood, batch_axes, **how)
        links, in_memory = values_above(threshold, field.dtype), isinstance(field, np.ndarray)
        array = Array(field, "cupy", field, links, question, in_memory)
        image = array.image
        if not tiled_bricks.takes(self.gpu, image, INDEX_TYPES[0], consecutive):
            marked = above(threshold, field).view(np.uint8)
            image = array._replace(values=marked, links=equal_values("u1", b"\0")).image

        def fill(labels: Any) -> Any:
            counts = fill_on_gpu(question, self.gpu, image, labels, self.workspace)
            single = counted and consecutive and not batch_axes
            return int(counts) if single else counts.reshape(array.batch_shape)

        return answer(array, None, fill)
