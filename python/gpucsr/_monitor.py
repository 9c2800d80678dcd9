"""Functions that a solver calls after every iteration, and progress bars."""
from __future__ import annotations

import ctypes
from typing import Any, Callable, Optional, Sequence

# The numbers that a monitor gets: the arguments between the solver and the context, as letters of _signatures.py. A test compares them with the headers.
NUMBERS = {"BMRM": "idd", "KMeans": "idl", "SMACOF": "iide", "PageRank": "idd", "Network": "id"}
_USER_ERROR = 83  # PETSC_ERR_USER


class Watch:
    """Calls a Python function after every iteration of solvers, within a ``with`` block around the solve.

    The arguments of the function are the position of the solver in ``solvers`` and the numbers of the monitor. An exception in the function, also
    ``KeyboardInterrupt``, stops the solve and is raised at the end of the block. Keep the object until the solvers are destroyed.
    """

    def __init__(self, lib: Any, kind: str, solvers: Sequence[Any], observe: Callable[..., None]):
        types = {"i": lib.int, "l": ctypes.c_int64, "d": ctypes.c_double, "e": ctypes.c_int}
        self._type = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, *(types[letter] for letter in NUMBERS[kind]), ctypes.c_void_p)
        self._observe = observe
        self._error: Optional[BaseException] = None
        self._functions = [self._function(k) for k in range(len(solvers))]
        for solver, function in zip(solvers, self._functions):
            getattr(lib, kind + "MonitorSet")(solver, function, None, None)

    def _function(self, k: int) -> Any:
        def call(solver: Any, *numbers: Any) -> int:
            try:
                self._observe(k, *numbers[:-1])
            except BaseException as error:  # an exception cannot pass through C functions
                self._error = error
                return _USER_ERROR
            return 0

        return self._type(call)

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, *exception: Any) -> None:
        if self._error is not None:
            raise self._error from None


class Bar:
    """A progress bar of tqdm, or nothing if none is wanted."""

    def __init__(self, wanted: bool, name: str, unit: str):
        self._bar = None
        if wanted:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                raise ImportError("progress=True needs tqdm, which is not installed. On Debian: apt-get install python3-tqdm") from None
            self._bar = tqdm(desc=name, unit=" " + unit)

    def move(self, text: str, value: float, to: Optional[int] = None) -> None:
        """Go on by one iteration, or to an iteration, and show a number that changes with the iterations."""
        if self._bar is None:
            return
        step = 1 if to is None else to - self._bar.n
        if step > 0:
            self._bar.set_postfix_str(f"{text} {value:.3g}", refresh=False)
            self._bar.update(step)

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *exception: Any) -> None:
        if self._bar is not None:
            self._bar.close()
