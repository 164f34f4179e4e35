"""Every kernel that a driver can load."""

import importlib
import pkgutil
from collections import defaultdict
from itertools import chain

import conncomp.kernels
from conncomp.kernels.cuda.launcher import Templates


def modules_of(driver):
    """Return the modules that a driver can load: its `specialisations`, or all of its templates.

    These are its own, and those of its tables.
    """
    if hasattr(driver, "specialisations"):
        return driver.specialisations()
    tables = (each if isinstance(each, dict) else {0: each} for each in vars(driver).values())
    values = chain.from_iterable(list(table.values()) for table in tables)
    kinds = (value for value in values if isinstance(value, Templates))
    return chain.from_iterable(kind.modules() for kind in kinds)


def names_by_file():
    """Return every kernel file with all the names that its driver can load from it."""
    found = defaultdict(dict)  # a dict keeps the order
    for module in pkgutil.walk_packages(conncomp.kernels.__path__, "conncomp.kernels."):
        driver = importlib.import_module(module.name)
        for file, names in modules_of(driver):
            found[file] |= dict.fromkeys(names)
    return {file: tuple(names) for file, names in found.items()}


def template_of(kernel):
    """Return the file and the template of a kernel, without the template's arguments."""
    return kernel.partition("<")[0]


def templates():
    """Return all templates, each with its file: ``"cuda/graph/ecl.cuh ecl_low"``."""
    return {
        f"{file} {template_of(name)}" for file, names in names_by_file().items() for name in names
    }
