"""The base of all models: replicas, a seed, a device with its engine, and states to restore."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from math import prod
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from conncomp._arguments import check_range
from conncomp._array_storage import host_copy, on_host
from conncomp._arrays import choose_device, on_gpu
from conncomp.kernels.cuda.launcher import current_gpu
from conncomp.kernels.updates import Drawn, Engine
from conncomp.models._arguments import check_drawn, check_state, room_for
from conncomp.models.protocol import (
    MOST_UPDATES,
    Integers,
    Measured,
    ModelState,
    ModelUpdate,
    make_updates,
)

Made = TypeVar("Made")


@dataclass
class State:
    """The present state of a model, after update `number`, and its engine.

    `now` has all replicas, and an update writes `next`. A `Thermal` has `betas`.
    """

    device: str
    drawn: Drawn
    _engine: Any = None  # which `_prepare` of the model makes
    betas: Any = None
    now: Any = None
    next: Any = None
    number: int = 0

    @property
    def engine(self) -> Any:
        """The engine, which makes updates; RuntimeError unless the model's GPU is current."""
        if self.device == "cuda" and not self._engine.gpu.is_current():
            gpu = self._engine.gpu.device
            raise RuntimeError(
                f"this model lies on GPU {gpu}, which was current when it was made, and another "
                f"one is now; use it inside `with cupy.cuda.Device({gpu}):`"
            )
        return self._engine

    def new_engine(self, make: Callable[..., Made], *arguments: Any) -> Made:
        """Return an engine of a class for the device; on a GPU, the current one."""
        on_device = (current_gpu(),) if self.device == "cuda" else ()
        return make(*on_device, self.drawn, *arguments)

    def engine_of(self, cpu: Callable[..., Engine], gpu: str) -> Any:
        """Return the class for the device; "module:Class", of a GPU, needs CuPy."""
        if self.device == "cpu":
            return cpu
        module, name = gpu.split(":")
        return getattr(import_module(f"conncomp.{module}"), name)

    def take_next(self, number: int) -> None:
        """Exchange `now` and `next`, which this update wrote, in one step."""
        self.now, self.next, self.number = self.next, self.now, number


class Simulated(ABC, Generic[Measured]):
    """A model of replicas side by side, whose updates are a function of parameters and seed alone.

    The class of a model inherits from this one, and says what differs:

    - `_name`, for parameters and errors;
    - `_changing`, the fields of `State` with arrays that updates change, of which `_checked`
      returns those of a state; and `_memory`, the attributes that `_prepare` makes;
    - `_described`, its parameters;
    - `_advance`, which makes an update, or an `updater` of its own where there are several kinds;
    - `_record_length`, `_measure` and `_read`: how a state becomes a record, and a record what
      users get;
    - `_labels`, or `labels` with arguments of its own; and `summaries`, of `SummarisedModel`.

    Copies and pickles go through the state, so that a copy and its original go on apart; attributes
    other than those above are shared. `start` chooses the device where that is None. Without
    `replicas` there is one, and no axis for replicas in what is returned.
    """

    _name: ClassVar[str]
    _changing: ClassVar[tuple[str, ...]] = ()
    _memory: ClassVar[tuple[str, ...]] = ()
    _record_length: int  # how many integers a record of a replica has

    def __init__(
        self, replicas: Any, first_replica: Any, seed: Any, device: Any, start: Any = None
    ) -> None:
        self._single = replicas is None
        self._batch_axes = 0 if self._single else 1  # for replicas, in what is returned
        self._random = check_drawn(replicas, first_replica, seed)
        self.seed, self.first_replica, self.replicas = self._random
        self.device: str = choose_device(device, on_gpu(start), "start")
        self._state = State(self.device, self._random)

    @property
    def updates(self) -> int:
        """The number of updates that were made."""
        return self._state.number

    @updates.setter
    def updates(self, number: int) -> None:
        self._state.number = number

    def parameters(self) -> dict[str, Any]:
        """Return which model it is: values that JSON has or arrays, with a value per replica."""
        drawn = {name: getattr(self, name) for name in ("seed", "replicas", "first_replica")}
        return {"model": self._name, **self._described(), **drawn}

    def state(self) -> ModelState:
        """Return a copy of all that updates change, in main memory, which `restore` takes."""
        arrays = tuple(host_copy(getattr(self._state, name)) for name in self._changing)
        return ModelState(self.updates, arrays)

    def restore(self, state: ModelState) -> None:
        """Go to where a model with the same parameters stood; its updates then repeat.

        Parameters
        ----------
        state : ModelState
            What `state` returned. What cannot be a state of this model raises TypeError or
            ValueError, and leaves the model as it was.

        Examples
        --------
        >>> from conncomp.models import Potts
        >>> model = Potts((8, 8), seed=1)
        >>> state = model.state()
        >>> first = model.swendsen_wang(5).energy
        >>> model.restore(state)
        >>> bool((model.swendsen_wang(5).energy == first).all())
        True
        """
        updates, arrays = check_state(state, f"a {self._name} model", len(self._changing))
        checked = zip(self._changing, self._checked(arrays), strict=True)
        # In one step, so that no signal comes between them.
        vars(self._state).update(checked, number=updates)

    def __getstate__(self) -> tuple[dict[str, Any], ModelState]:
        left_out = {"_state", *self._memory}
        described = {name: value for name, value in vars(self).items() if name not in left_out}
        return described, self.state()

    def __setstate__(self, copied: tuple[dict[str, Any], ModelState]) -> None:
        described, state = copied
        vars(self).update(described)
        self._state = State(self.device, self._random)
        self._prepare()
        self.restore(state)

    def step(self, n: int = 1) -> None:
        """Make so many of the model's usual updates, without measuring.

        Parameters
        ----------
        n : int, optional
            0 or more; with those that were made, below 2**32.
        """
        self._step(self._next_updates("n", n))

    def updater(self) -> ModelUpdate[Measured]:
        """Return the model's usual update, a `ModelUpdate`: `conncomp.models.simulate` makes many.

        It measures the state that it finds, and then changes it.

        Examples
        --------
        >>> from conncomp.models import Kawasaki
        >>> model = Kawasaki((8, 8), lattice="square", seed=1)
        >>> update, records = model.updater(), model.new_records(2)
        >>> for record in records:
        ...     update(model.updates + 1, record)
        >>> update.read(records).energy.shape
        (2,)
        """
        return Update(self, {})

    def new_records(self, n: int) -> Any:
        """Return n records of what updates measure: int64, all 0, (n, replicas, fields)."""
        return Update(self, {}).new_records(check_range("n", n, 0, MOST_UPDATES))

    def measure(self) -> Measured:
        """Return what can be measured of the present state without an update.

        That is all but clusters, without an axis for updates.

        Examples
        --------
        >>> from conncomp.models import Potts
        >>> Potts((8, 8), start="cold", replicas=2).measure().energy
        array([-128., -128.])
        """
        return self._read_present()

    def labels(self, *, numbering: str = "consecutive", return_num: bool = False) -> Any:
        """Label the clusters that the next update draws, or the components of the present state.

        The latter are those of the spins that are up, of `Kawasaki` and `SpinGlass`.

        Parameters
        ----------
        numbering, return_num
            As of `conncomp.label`.

        Returns
        -------
        labels : array of int32 or int64, shape ``(*replicas, *shape)``
            On the device: of the shape of `spins`, but for components of vectors. Spins that are
            down have 0, or -1 if numbering is "roots".
        num : int, or array of int64, shape (replicas,)
            If `return_num`: how many there are.

        Examples
        --------
        >>> from conncomp.models import XY, Ising
        >>> labels, num = XY((4, 4), beta=50.0, start="cold", seed=1).labels(return_num=True)
        >>> labels.shape, num
        ((4, 4), 1)
        >>> kagome = Ising((4, 4), lattice="kagome", beta=9.0, start="cold")
        >>> kagome.labels().shape
        (4, 4, 3)
        """
        return self._labels(numbering=numbering, return_num=return_num)

    @property
    def _engine(self) -> Any:
        return self._state.engine

    @abstractmethod
    def _described(self) -> dict[str, Any]:
        """Return this model's own parameters, as values that JSON has."""

    def _labels(self, **how: Any) -> Any:
        raise NotImplementedError

    @abstractmethod
    def _prepare(self) -> None:
        """Make the state's engine by `State.new_engine`, and what `_memory` names."""

    def _checked(self, arrays: tuple[NDArray[Any], ...]) -> tuple[Any, ...]:
        """Return copies of a state's arrays; ValueError if they do not fit."""
        return arrays

    @abstractmethod
    def _measure(self, record: Any) -> None:
        """Measure the present state into a record, (replicas, fields), which is 0."""

    @abstractmethod
    def _read(self, records: Integers) -> Measured:
        """Return the measurements in records, (..., fields), with or without a replica axis.

        Replicas of a `Thermal` may be in the order of `ladders`.
        """

    def _step(self, numbers: range) -> None:
        make_updates(self.updater(), numbers)

    def _advance(self, number: int) -> None:
        """Make an update; whatever ends it leaves the state as before."""
        raise NotImplementedError

    def _zeros(self, what: str, shape: tuple[int, ...], dtype: Any, xp: Any = None) -> Any:
        """Return zeros for the state of replicas; an update needs two such arrays."""
        size = 2 * np.dtype(dtype).itemsize * prod(shape)
        with room_for(f"{what} and {self.replicas} replicas, before and after an update", size):
            return (xp or self._engine.xp).zeros(shape, dtype)

    def _next_updates(self, name: str, count: Any) -> range:
        """Return the numbers of `count` updates, an argument of this name."""
        checked = check_range(name, count, 0, MOST_UPDATES - self._state.number)
        return range(self._state.number + 1, self._state.number + 1 + checked)

    def _read_present(self, **how: Any) -> Measured:
        """Measure the present state."""
        return self._read(self._of_replicas(Update(self, {}, measure_by=how).present()))

    def _of_replicas(self, array: Any) -> Any:
        """Return an array without the axis of replicas, if there is a single one."""
        return array[0] if self._single else array


@dataclass
class Update:
    """A kind of a model's updates: a `ModelUpdate`, of `options` that JSON has.

    The model's `_measure` gets a record and `measure_by`, `_advance` a number and `advance_by`.
    Kinds that make several updates at once have `most` and `sweep`, too.
    """

    model: Any
    options: dict[str, Any]
    measure_by: dict[str, Any] = field(default_factory=dict)
    advance_by: dict[str, Any] = field(default_factory=dict)
    of_clusters: Any = None  # what `_read` finds of clusters
    fields: int = 0  # of a record, if it has others than the model's

    def __call__(self, number: int, record: Any = None) -> None:
        """Make an update, and measure into a record unless that is None."""
        if record is not None:
            self.measure(record)
        self.model._advance(number, **self.advance_by)

    def new_records(self, n: int) -> Any:
        """Return n records, all 0."""
        model, fields = self.model, self.fields or self.model._record_length
        return model._state._engine.xp.zeros((n, model.replicas, fields), np.int64)

    def measure(self, record: Any) -> None:
        """Measure the present state into a record."""
        self.model._measure(record, **self.measure_by)

    def present(self) -> Any:
        """Return a record of the present state, in main memory: (replicas, fields)."""
        record = self.new_records(1)[0]
        self.measure(record)
        return on_host(record)

    def read(self, records: Integers) -> Any:
        """Return the measurements in records, (rows, replicas, fields)."""
        how = {} if self.of_clusters is None else {"of_clusters": self.of_clusters}
        return self.model._read(records[:, 0] if self.model._single else records, **how)

    def of_ladders(self, records: Integers, ladders: Integers) -> Any:
        """Read records of `present`, whose replicas are in the order of ladders."""
        return self.model._read(records, ladders=ladders)
