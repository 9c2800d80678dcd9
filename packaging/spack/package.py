# A recipe of Spack 1.0 or newer. Put it into a repository of your own, or add it to Spack's:
#
#   spack repo create ~/my-repo mine && spack repo add ~/my-repo/spack_repo/mine
#   mkdir -p ~/my-repo/spack_repo/mine/packages/gpucsr && cp package.py ~/my-repo/spack_repo/mine/packages/gpucsr
#   cd <sources of gpucsr> && spack dev-build gpucsr@0.1.0
#
# The project has no public archive of its sources yet, so that version 0.1.0 has no checksum: spack dev-build uses the sources in the current folder.
from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.makefile import MakefilePackage

from spack.package import *


class Gpucsr(MakefilePackage, CudaPackage):
    """A plug-in for PETSc: sparse matrices, vectors and solvers on an NVIDIA GPU, or on the host where there is none."""

    license("BSD-2-Clause")

    version("0.1.0")

    variant("slepc", default=False, description="Eigensolvers of SLEPc in pagerank and smacof")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+cuda")
    depends_on("gmake", type="build")
    depends_on("python@3:", type="build")
    depends_on("mpi")
    depends_on("petsc@3.18:3.26 +mpi +shared +double ~complex")
    depends_on("slepc@3.18:3.26", when="+slepc")
    depends_on("cuda@12:", when="+cuda")

    conflicts("cuda_arch=none", when="+cuda", msg="Name the compute capability of the GPU, for example cuda_arch=90")

    def variables(self, prefix):
        spec = self.spec
        return [
            f"PETSC_DIR={spec['petsc'].prefix}",
            "PETSC_ARCH=",
            f"SLEPC_DIR={spec['slepc'].prefix if spec.satisfies('+slepc') else 'none'}",
            f"CUDA_DIR={spec['cuda'].prefix if spec.satisfies('+cuda') else 'none'}",
            f"CUDA_ARCHS={' '.join(spec.variants['cuda_arch'].value) if spec.satisfies('+cuda') else ''}",
            f"prefix={prefix}",
        ]

    def build(self, spec, prefix):
        make(*self.variables(prefix), "all", "man")

    def install(self, spec, prefix):
        make(*self.variables(prefix), "install")

    def setup_run_environment(self, env):
        # programs that use PETSc: -dll_append $GPUCSR_PLUGIN
        env.set("GPUCSR_PLUGIN", join_path(self.prefix.lib, "libgpucsr.so"))
