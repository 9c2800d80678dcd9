"""Builds libgpucsr with the PETSc of petsc4py, and puts it into the package. pyproject.toml has the metadata.

Variables of the makefile are taken from the environment: PETSC_DIR, PETSC_ARCH, CUDA_DIR, CUDA_ARCHS, BUILD. By default, PETSC_DIR and PETSC_ARCH are
those of petsc4py. BUILD is a folder for the objects, which a later build uses again; the default is below build/ in this folder.
"""
import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist
from setuptools.dist import Distribution

HERE = Path(__file__).resolve().parent
# What the makefile needs to build the library; in a source distribution it is in the folder csrc.
SOURCES = ("LICENSE", "makefile", "include", "src", "solvers")


def sources() -> Path:
    """Return the folder of the makefile."""
    for folder in (HERE / "csrc", HERE.parent):
        if (folder / "include" / "gpucsr.h").is_file():
            return folder
    sys.exit(f"gpucsr: the C sources are neither in {HERE / 'csrc'} nor in {HERE.parent}. Use the complete source tree, or a source distribution")


def petsc() -> dict:
    """Return PETSC_DIR and PETSC_ARCH: those of the environment, or those of the petsc4py that the package will use."""
    if os.environ.get("PETSC_DIR"):
        return {name: os.environ.get(name, "") for name in ("PETSC_DIR", "PETSC_ARCH")}
    # pip hides the installed packages from a build by PYTHONPATH, unless it is called with --no-build-isolation.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([sys.executable, "-c", "import petsc4py; print(petsc4py.get_config())"], env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit("gpucsr: petsc4py is not installed. Install it first, on Debian by: apt-get install python3-petsc4py-real")
    config = ast.literal_eval(done.stdout)
    arch = config["PETSC_ARCH"]
    return {"PETSC_DIR": config["PETSC_DIR"], "PETSC_ARCH": arch if isinstance(arch, str) else arch[0]}


class BuildLibrary(build_py):
    """Adds the library to the modules of the package."""

    def run(self):
        super().run()
        if getattr(self, "editable_mode", False):
            return  # the package in the source tree finds the library by GPUCSR_LIBRARY
        top = sources()
        build = (top / (os.environ.get("BUILD") or Path(self.build_lib).resolve().parent / "gpucsr-library")).resolve()
        library = build / "lib" / "libgpucsr.so"
        environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "BUILD", "PYTHONPATH")}
        jobs = os.environ.get("JOBS") or str(len(os.sched_getaffinity(0)))
        target = library.relative_to(top) if top in library.parents else library  # as the makefile names it
        command = ["make", "-j" + jobs, f"BUILD={build}", str(target)]
        print("gpucsr: " + " ".join(command), flush=True)
        subprocess.run(command, cwd=top, env={**environment, **petsc()}, check=True)
        target = Path(self.build_lib) / "gpucsr" / "lib" / "libgpucsr.so"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(library, target)
        target.chmod(0o755)
        if shutil.which("strip"):
            subprocess.run(["strip", "--strip-unneeded", str(target)], check=True)


class SourceDistribution(sdist):
    """Adds the C sources."""

    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        top, target = sources(), Path(base_dir) / "csrc"
        for name in SOURCES:
            if (top / name).is_dir():
                shutil.copytree(top / name, target / name, ignore=shutil.ignore_patterns("*.o", "*.pyc", "__pycache__"), dirs_exist_ok=True)
            else:
                target.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(top / name, target / name)
        shutil.copyfile(top / "LICENSE", Path(base_dir) / "LICENSE")


class BinaryDistribution(Distribution):
    """Marks wheels as specific to the platform, although there is no extension module."""

    def has_ext_modules(self):
        return True


setup(cmdclass={"build_py": BuildLibrary, "sdist": SourceDistribution}, distclass=BinaryDistribution)
