"""Finds and loads libgpucsr, and calls its functions."""
from __future__ import annotations

import ctypes
import os
import re
import shlex
import sys
import sysconfig
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterator, Optional

import numpy as np

from ._signatures import PETSC, SIGNATURES

_NAME = "libgpucsr.so"
# Codes of PETSc for wrong arguments: PETSC_ERR_ARG_..., PETSC_ERR_USER (an unknown value of an enumeration) and PETSC_ERR_USER_INPUT.
_ARGUMENT_CODES = frozenset((60, 61, 62, 63, 64, 68, 69, 73, 75, 80, 83, 85, 86, 89, 95))


def find() -> Path:
    """Return the path of libgpucsr.

    It is the value of the environment variable ``GPUCSR_LIBRARY``, the copy that ``pip`` installed with the package, or the library in a
    system folder, in this order.

    Raises
    ------
    FileNotFoundError
        There is no library in these places.
    """
    named = os.environ.get("GPUCSR_LIBRARY")
    if named:
        if not os.path.isfile(named):
            raise FileNotFoundError(f"GPUCSR_LIBRARY={named}: there is no such file. Give the path of {_NAME}")
        return Path(named).absolute()
    multiarch = sysconfig.get_config_var("MULTIARCH") or ""
    folders = [Path(__file__).parent / "lib", Path(sys.prefix, "lib"), Path("/usr/local/lib"), Path("/usr/lib", multiarch), Path("/usr/lib")]
    for folder in folders:
        for name in (_NAME, _NAME + ".0"):
            if (folder / name).is_file():
                return folder / name
    raise FileNotFoundError(f"{_NAME} is in none of {', '.join(dict.fromkeys(map(str, folders)))}. Set GPUCSR_LIBRARY to its path, or install the package with pip")


def load(path: Optional[os.PathLike | str] = None) -> Path:
    """Register the types of gpucsr with PETSc, and return the path of the library.

    If petsc4py has already started PETSc, the types are registered at once. Otherwise the library is named in the environment variable
    ``PETSC_OPTIONS``, and PETSc registers the types when it starts, so that ``petsc4py.init`` can still be called. All other functions of the
    package call this function. Further calls do nothing.

    Parameters
    ----------
    path
        The library. The default is the result of ``find()``.

    Raises
    ------
    FileNotFoundError
        There is no such file, or no library in the places of ``find()``.

    Examples
    --------
    >>> import gpucsr
    >>> gpucsr.load().name.startswith("libgpucsr.so")
    True
    >>> from petsc4py import PETSc
    >>> A = PETSc.Mat().create(PETSc.COMM_SELF)
    >>> A.setSizes(2); A.setType("gpucsr"); A.getType()
    'seqaijgpucsr'
    """
    if Library.instance is not None:
        return Library.instance.path
    if path is not None and not os.path.isfile(path):
        raise FileNotFoundError(f"load: there is no file {path}. Give the path of {_NAME}")
    path = find() if path is None else Path(path).absolute()
    if "petsc4py.PETSc" in sys.modules:
        Library.instance = Library(path)
    elif not Library.announced:
        try:
            import petsc4py  # noqa: F401
        except ImportError:
            raise ImportError("gpucsr needs petsc4py, which is not installed. On Debian: apt-get install python3-petsc4py-real") from None
        os.environ["PETSC_OPTIONS"] = _append_library(os.environ.get("PETSC_OPTIONS", ""), str(path))
        Library.announced = path
    return path


def _append_library(options: str, path: str) -> str:
    """Add a library to a string of options. PETSc takes one list of libraries."""
    found = re.search(r"(?:^|\s)-dll_append\s+(\S+)", options)
    if not found:
        return f"{options} -dll_append {shlex.quote(path)}".strip()
    if path in found.group(1).split(","):
        return options
    return f"{options[:found.end()]},{path}{options[found.end():]}"


def library() -> "Library":
    """Return the loaded library; start PETSc if it has not started."""
    if Library.instance is None:
        load()
        import petsc4py.PETSc  # noqa: F401

        if Library.instance is None:
            Library.instance = Library(Library.announced or find())
    return Library.instance


class _Object:
    """Type of the arguments that are objects: an object of petsc4py, which exists until the function returns, a handle, an array of handles, or None."""

    @classmethod
    def from_param(cls, value: Any) -> Any:
        if value is None or isinstance(value, ctypes.Array):
            return value
        return ctypes.c_void_p(value if isinstance(value, int) else value.handle)


class Library:
    """The functions of libgpucsr as attributes. A function that fails raises an exception."""

    instance: Optional["Library"] = None
    announced: Optional[Path] = None

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, path: Path):
        from petsc4py import PETSc

        self.path = path
        self.PETSc = PETSc
        if np.dtype(PETSc.ScalarType) != np.float64:
            raise ImportError(f"gpucsr needs a PETSc with real scalars in double precision; that of petsc4py has {np.dtype(PETSc.ScalarType)}")
        self.int = np.ctypeslib.as_ctypes_type(PETSc.IntType)
        try:
            self._dll = ctypes.PyDLL(str(path))  # keeps Python's lock: PETSc is not safe for threads
        except OSError as error:
            raise ImportError(f"{path} cannot be loaded: {error}. Build gpucsr with the PETSc of petsc4py") from None
        self.Error, self.ArgumentError = _make_errors(PETSc.Error)
        self._types = {"p": _Object, "o": ctypes.c_void_p, "i": self.int, "l": ctypes.c_int64, "d": ctypes.c_double, "e": ctypes.c_int, "s": ctypes.c_char_p, "f": ctypes.c_void_p}
        for line in (SIGNATURES + PETSC).split("\n"):
            if line:
                self._declare(*line.split())
        if not self.get(self.PetscInitialized, None, ctypes.c_int):  # a second PETSc in this process has not started
            raise ImportError(f"{path} was built for another PETSc than petsc4py ({PETSc.__file__}). Build gpucsr with the PETSc of petsc4py")
        self.PetscGPUCSRInitialize()

    def _declare(self, name: str, letters: str = "") -> None:
        function = getattr(self._dll, name)
        function.restype = ctypes.c_int
        function.argtypes = [self._types[letter] for letter in letters]
        function.errcheck = self._check
        setattr(self, name, function)

    def _check(self, code: int, function: Any, arguments: tuple) -> int:
        if code:
            raise self.error(code)
        return code

    def error(self, code: int, place: str = "") -> Exception:
        """Return the exception for an error code, with the message that PETSc keeps of its latest error."""
        text, latest = ctypes.c_char_p(), ctypes.c_char_p()
        self._dll.PetscErrorMessage(ctypes.c_int(code), ctypes.byref(text), ctypes.byref(latest))
        words = (latest.value or text.value or b"PETSc error %d" % code).decode(errors="replace").split()
        return (self.ArgumentError if code in _ARGUMENT_CODES else self.Error)(code, place + " ".join(words))

    def get(self, function: Any, handle: Any, kind: Any) -> Any:
        """Return the result that a function stores in its last argument."""
        out = kind()
        if handle is None:
            function(ctypes.byref(out))
        else:
            function(handle, ctypes.byref(out))
        return out.value

    def get2(self, function: Any, handle: Any, kind: Any = ctypes.c_double) -> tuple:
        """Return the results that a function stores in its last two arguments."""
        first, second = kind(), kind()
        function(handle, ctypes.byref(first), ctypes.byref(second))
        return first.value, second.value

    @contextmanager
    def solver(self, kind: str, like: Any) -> Iterator[Any]:
        """Create a solver on the communicator of a petsc4py object, and destroy it at the end."""
        comm = self.get(self.PetscObjectGetComm, like, ctypes.c_void_p)
        handle = ctypes.c_void_p()
        getattr(self, kind + "Create")(comm, ctypes.byref(handle))
        try:
            yield handle.value
        finally:
            getattr(self, kind + "Destroy")(ctypes.byref(handle))

    def vec_array(self, vec: int) -> np.ndarray:
        """Return a copy of the local entries of a vector."""
        n, array = self.get(self.VecGetLocalSize, vec, self.int), ctypes.POINTER(ctypes.c_double)()
        self.VecGetArrayRead(vec, ctypes.byref(array))
        out = np.ctypeslib.as_array(array, (n,)).copy() if n else np.empty(0)
        self.VecRestoreArrayRead(vec, ctypes.byref(array))
        return out

    def is_array(self, indices: int) -> np.ndarray:
        """Return a copy of the local indices of an index set, as 32-bit integers."""
        n, array = self.get(self.ISGetLocalSize, indices, self.int), ctypes.POINTER(self.int)()
        self.ISGetIndices(indices, ctypes.byref(array))
        out = np.ctypeslib.as_array(array, (n,)).astype(np.int32) if n else np.empty(0, np.int32)
        self.ISRestoreIndices(indices, ctypes.byref(array))
        return out

    def dense_array(self, mat: int) -> np.ndarray:
        """Return a copy of a sequential dense matrix, with contiguous rows."""
        rows, columns = self.get2(self.MatGetSize, mat, self.int)
        array = ctypes.POINTER(ctypes.c_double)()
        self.MatDenseGetArrayRead(mat, ctypes.byref(array))
        out = np.ascontiguousarray(np.ctypeslib.as_array(array, (columns, rows)).T) if rows * columns else np.empty((rows, columns))
        self.MatDenseRestoreArrayRead(mat, ctypes.byref(array))
        return out.copy() if out.base is not None else out


def _make_errors(base: type) -> tuple:
    class Error(base):
        """An error that PETSc or gpucsr has raised. ``ierr`` is PETSc's code, and the text is the message in one line."""

        def __init__(self, ierr: int, message: str):
            super().__init__(ierr)
            self.message = message

        def __str__(self) -> str:
            return self.message

        def __reduce__(self) -> tuple:
            return type(self), (self.ierr, self.message)

    class ArgumentError(Error, ValueError):
        """An error in an argument; also a ``ValueError``."""

    for kind in (Error, ArgumentError):
        kind.__module__, kind.__qualname__ = "gpucsr", kind.__name__
    return Error, ArgumentError
