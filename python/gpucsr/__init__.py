"""Sparse matrices, solvers, ranks, linear models, maps and clusters on a GPU, by PETSc and the library gpucsr.

Importing the package starts nothing. The first function that needs the library starts PETSc.
"""
from __future__ import annotations

from importlib import import_module
from typing import Any

from ._library import find, load

__version__ = "0.1.0"

# Names that are imported when they are used, so that a program waits only for the modules that it needs.
_MODULES = {
    "from_scipy": "_convert",
    "to_scipy": "_convert",
    "as_vec": "_convert",
    "as_numpy": "_convert",
    "LinearOperator": "_operator",
    "pagerank": "_pagerank",
    "network": "_network",
    "ConvergenceError": "_pagerank",
    "KMeans": "cluster",
    "MDS": "manifold",
    "LinearSVC": "linear_model",
    "LogisticRegression": "linear_model",
    "Ridge": "linear_model",
    "LinearSVR": "linear_model",
    "RankSVM": "ranking",
}
_SUBMODULES = ("linalg", "cluster", "linear_model", "manifold", "ranking", "plot")

__all__ = ["find", "load", "device", "Error", "ArgumentError", *_MODULES, *_SUBMODULES]


def device() -> str:
    """Return the name of the device: ``host`` or that of the GPU."""
    from ctypes import c_char_p

    from ._library import library

    lib = library()
    return lib.get(lib.PetscGPUCSRGetDeviceName, None, c_char_p).decode()


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value = getattr(import_module("." + _MODULES[name], __name__), name)
    elif name in _SUBMODULES:
        value = import_module("." + name, __name__)
    elif name in ("Error", "ArgumentError"):
        from ._library import library

        value = getattr(library(), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list:
    return sorted({*globals(), *__all__})
