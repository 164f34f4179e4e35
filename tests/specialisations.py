"""Every kernel that a driver can load."""

import importlib
import pkgutil
from collections import defaultdict

import conncomp.kernels


def names_by_file():
    """Return every kernel file with all the names that its driver can load from it."""
    found = defaultdict(dict)  # a dict keeps the order
    for module in pkgutil.walk_packages(conncomp.kernels.__path__, "conncomp.kernels."):
        driver = importlib.import_module(module.name)
        if hasattr(driver, "specialisations"):
            for file, names in driver.specialisations():
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
