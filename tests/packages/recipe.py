"""Checks recipes as far as this is possible without their package managers.   recipe.py spack|conda <file>"""
import re
import sys
import types

kind, path = sys.argv[1:]
header = open("include/gpucsr.h").read()
version = ".".join(re.search(rf"#define GPUCSR_VERSION_{part} +(\d+)", header).group(1) for part in ("MAJOR", "MINOR", "PATCH"))


def spack():
    """Runs the class body with stand-ins for Spack's directives, which record their arguments."""
    calls = []
    module = types.ModuleType("spack.package")
    for name in "version variant depends_on conflicts license maintainers homepage patch provides resource".split():
        setattr(module, name, lambda *args, _name=name, **kwargs: calls.append((_name, args, kwargs)))
    for base in ("Package", "MakefilePackage", "CudaPackage"):
        setattr(module, base, type(base, (), {"cuda_arch_values": ("80", "90")}))
    module.run_after = lambda *args, **kwargs: lambda function: function
    module.join_path = lambda *parts: "/".join(parts)
    names = {"spack": types.ModuleType("spack"), "spack.package": module}
    for package in ("spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems", "spack_repo.builtin.build_systems.makefile", "spack_repo.builtin.build_systems.cuda"):
        names[package] = types.ModuleType(package)
    names["spack_repo.builtin.build_systems.makefile"].MakefilePackage = module.MakefilePackage
    names["spack_repo.builtin.build_systems.cuda"].CudaPackage = module.CudaPackage
    module.__all__ = [name for name in vars(module) if not name.startswith("__")]
    sys.modules.update(names)
    space = {}
    exec(compile(open(path).read(), path, "exec"), space)
    assert "Gpucsr" in space, "there is no class Gpucsr"
    assert any(name == "version" and version in args for name, args, _ in calls), f"there is no version {version}"
    assert any(name == "depends_on" and args[0].startswith("petsc@3.18:") for name, args, _ in calls), "it does not depend on PETSc 3.18 or newer"


def conda():
    import jinja2
    import yaml

    text = jinja2.Environment().from_string(open(path).read()).render(compiler=lambda language: f"compiler-{language}", stdlib=lambda language: f"stdlib-{language}", pin_subpackage=lambda name, **kwargs: name, environ={})
    recipe = yaml.safe_load(re.sub(r"  # \[.*\]$", "", text, flags=re.M))
    assert recipe["package"] == {"name": "gpucsr", "version": version}, recipe["package"]
    for section in ("source", "build", "requirements", "test", "about", "extra"):
        assert section in recipe, f"there is no section {section}"
    assert {"build", "host", "run"} <= set(recipe["requirements"]), "requirements lack a section"


{"spack": spack, "conda": conda}[kind]()
