"""The public names that calls use, by the names that calls know them by.

A rename of a public function or class is one entry in `RENAMED`: neither calls nor keys change.
"""

import conncomp
import conncomp.generate
import conncomp.models

# By room: the name in the calls, and its name today where it is another one.
RENAMED = {"conncomp": {}, "models": {}, "generate": {}}
MODULES = {"conncomp": conncomp, "models": conncomp.models, "generate": conncomp.generate}
# Pairs of a room and a name that calls have asked for, or got a value of, since it was cleared.
reached = set()


class Room:
    """A public module; an attribute is what a name stands for today."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        reached.add((self._name, name))
        return getattr(MODULES[self._name], RENAMED[self._name].get(name, name))


cc, models, generate = map(Room, MODULES)


def public(room):
    """Return the public names of a room, as calls know them."""
    known = {today: name for name, today in RENAMED[room].items()}
    return {known.get(name, name) for name in MODULES[room].__all__}


def _classes():
    for room, module in MODULES.items():
        for name in public(room):
            value = getattr(module, RENAMED[room].get(name, name))
            if isinstance(value, type):
                yield value, (room, name)


CLASSES = dict(_classes())


def note_class(cls):
    """Take down that a result was of this class."""
    reached.update(CLASSES[base] for base in cls.__mro__ if base in CLASSES)
