"""Copies of models: each has memory of its own."""

from __future__ import annotations

from typing import Any, ClassVar

from conncomp.models.protocol import State


class Copied:
    """A model whose copies, deep copies and pickles go through its state.

    `Model.state` has no memory of the model, and `Model.restore` keeps none of the state, so that a
    copy and its original go on apart. All other attributes are as they are, but for those of
    `_memory`, which `_prepare` makes anew.
    """

    _memory: ClassVar[tuple[str, ...]]  # the engine, and the arrays that it reads and writes

    def _prepare(self) -> None:
        """Make the engine, and what belongs to it but for the state."""
        raise NotImplementedError

    def state(self) -> State:
        """Return a copy of all that updates change."""
        raise NotImplementedError

    def restore(self, state: State) -> None:
        """Go to where a model with the same parameters stood."""
        raise NotImplementedError

    def __getstate__(self) -> tuple[dict[str, Any], State]:
        described = {name: each for name, each in vars(self).items() if name not in self._memory}
        return described, self.state()

    def __setstate__(self, copied: tuple[dict[str, Any], State]) -> None:
        described, state = copied
        vars(self).update(described)
        self._prepare()
        self.restore(state)
