# A package of PETSc's configure. Copy this file to config/BuildSystem/config/packages/ of PETSc's sources, then:
#
#   ./configure --download-gpucsr=/path/to/gpucsr-0.1.0.tar.gz     (or the folder of a git repository: --download-gpucsr=git:///path/to/gpucsr)
#   make
#
# PETSc's make builds gpucsr after PETSc, with CUDA if PETSc is configured with CUDA, and installs it beside PETSc.
import config.package


class Configure(config.package.Package):
  def __init__(self, framework):
    config.package.Package.__init__(self, framework)
    self.download               = ['use --download-gpucsr=<archive or folder of gpucsr>']
    self.functions              = []
    self.includes               = []
    self.skippackagewithoptions = 1 # gpucsr is built with PETSc or not at all: there is no --with-gpucsr-dir
    self.useddirectly           = 0
    self.linkedbypetsc          = 0
    self.builtafterpetsc        = 1
    self.precisions             = ['double']
    self.complex                = 0
    return

  def setupHelp(self, help):
    import nargs
    config.package.Package.setupHelp(self, help)
    help.addArgument('GPUCSR', '-download-gpucsr-make-arguments=string', nargs.Arg(None, None, 'Additional arguments of make for gpucsr, for example CUDA_ARCHS=90'))
    return

  def setupDependencies(self, framework):
    config.package.Package.setupDependencies(self, framework)
    self.sharedLibraries = framework.require('PETSc.options.sharedLibraries', self)
    self.cuda            = framework.require('config.packages.CUDA', self)
    self.odeps           = [self.cuda]
    return

  def consistencyChecks(self):
    config.package.Package.consistencyChecks(self)
    if self.argDB['download-gpucsr'] and not self.sharedLibraries.useShared:
      raise RuntimeError('gpucsr needs shared libraries: use --with-shared-libraries=1, or remove --download-gpucsr')
    return

  def Install(self):
    import os
    # with --prefix, PETSc is installed before gpucsr is built
    if self.argDB['prefix'] and not 'package-prefix-hash' in self.argDB:
      prefix = os.path.abspath(os.path.expanduser(self.argDB['prefix']))
      petsc  = 'PETSC_DIR='+prefix+' PETSC_ARCH='
    else:
      prefix = os.path.join(self.petscdir.dir, self.arch)
      petsc  = 'PETSC_DIR='+self.petscdir.dir+' PETSC_ARCH='+self.arch
    cuda = 'CUDA_DIR='+(getattr(self.cuda, 'cudaDir', None) or 'none')
    args = ' '.join([petsc, cuda, 'prefix='+prefix, 'libdir='+os.path.join(prefix, 'lib'), self.argDB.get('download-gpucsr-make-arguments') or ''])
    self.directory = prefix
    self.include   = [os.path.join(prefix, 'include')]
    self.lib       = [os.path.join(prefix, 'lib', 'libgpucsr.so')]
    self.addPost(self.packageDir, ['${OMAKE} '+args+' install'])
    self.logPrintBox('gpucsr will be installed to '+prefix+'. Programs load it by -dll_append '+os.path.join(prefix, 'lib', 'libgpucsr.so'))
    return self.installDir
