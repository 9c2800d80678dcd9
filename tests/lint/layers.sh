#!/usr/bin/env bash
# Layers: a file includes only headers of its own directory and of lower layers, by paths written from src/, and only those headers of
# PETSc that its directory may use.  The table below is that of docs/architecture.md.  Within a directory, files depend in one direction (files.py).
cd "$(dirname "$0")/../.." || exit 1
bad=0
python3 tests/lint/files.py || bad=1
grep -rnE '^[[:space:]]*#[[:space:]]*include' --include='*.c' --include='*.h' --include='*.cu' --include='*.cuh' src include solvers examples 2>/dev/null | awk '
BEGIN {
  # directory                     layer, PETSc headers that it may include ("" none, "public" every header without "private")
  layer["src/device/"]                      = 0; petsc["src/device/"]                      = ""
  layer["src/mat/impls/gpucsr/spmv/"]       = 1; petsc["src/mat/impls/gpucsr/spmv/"]       = "petscsys.h"
  layer["src/mat/impls/gpucsr/trisolve/"]   = 1; petsc["src/mat/impls/gpucsr/trisolve/"]   = ""
  layer["src/mat/impls/gpucsr/spgemm/"]     = 2; petsc["src/mat/impls/gpucsr/spgemm/"]     = ""
  layer["src/vec/kernels/"]                 = 1; petsc["src/vec/kernels/"]                 = ""
  layer["src/pc/kernels/"]                  = 1; petsc["src/pc/kernels/"]                  = ""
  layer["src/pc/aggregation/"]              = 2; petsc["src/pc/aggregation/"]              = ""
  layer["src/mat/impls/gpucsr/selector/"]   = 3; petsc["src/mat/impls/gpucsr/selector/"]   = "petscsys.h"
  layer["src/sys/"]                         = 3; petsc["src/sys/"]                         = "public petsc/private/petscimpl.h"
  layer["src/mat/impls/gpucsr/operator/"]   = 4; petsc["src/mat/impls/gpucsr/operator/"]   = "petscsys.h"
  layer["src/vec/"]                         = 4; petsc["src/vec/"]                         = "public petsc/private/vecimpl.h petsc/private/petscimpl.h petsc/private/deviceimpl.h petsc/private/sfimpl.h petsc/private/hashmap.h"
  layer["include/"]                         = 2; petsc["include/"]                         = "public"
  layer["src/mat/impls/gpucsr/image/"]      = 5; petsc["src/mat/impls/gpucsr/image/"]      = "public petsc/private/matimpl.h"
  layer["src/mat/impls/gpucsr/product/"]    = 6; petsc["src/mat/impls/gpucsr/product/"]    = "public petsc/private/matimpl.h"
  layer["src/mat/impls/gpucsr/factor/"]     = 6; petsc["src/mat/impls/gpucsr/factor/"]     = "public petsc/private/matimpl.h"
  layer["src/mat/impls/gpucsr/parallel/"]   = 7; petsc["src/mat/impls/gpucsr/parallel/"]   = "public petsc/private/matimpl.h"
  layer["src/mat/impls/gpucsr/type/"]       = 8; petsc["src/mat/impls/gpucsr/type/"]       = "public petsc/private/matimpl.h petsc/private/hashseti.h"
  layer["src/ksp/"]                         = 9; petsc["src/ksp/"]                         = "public petsc/private/kspimpl.h petsc/private/matimpl.h"
  layer["src/pc/"]                          = 9; petsc["src/pc/"]                          = "public petsc/private/pcimpl.h petsc/private/matimpl.h"
  layer["src/app/text/"]                    = 4.1; petsc["src/app/text/"]                = "public"
  layer["src/app/output/"]                  = 4.1; petsc["src/app/output/"]              = "public"
  layer["src/app/binary/"]                  = 4.2; petsc["src/app/binary/"]              = "public"
  layer["src/app/libsvm/"]                  = 4.2; petsc["src/app/libsvm/"]              = "public"
  layer["src/app/market/"]                  = 4.2; petsc["src/app/market/"]              = "public"
  layer["src/app/table/"]                   = 4.2; petsc["src/app/table/"]               = "public"
  layer["src/app/checkpoint/"]              = 4.2; petsc["src/app/checkpoint/"]          = "public"
  layer["src/app/graph/"]                   = 4.3; petsc["src/app/graph/"]               = "public"
  layer["src/app/report/"]                  = 4.3; petsc["src/app/report/"]              = "public"
  layer["src/app/picture/"]                 = 4.4; petsc["src/app/picture/"]             = "public"
  layer["src/app/program/"]                 = 4.4; petsc["src/app/program/"]             = "public"
  layer["src/app/linkmatrix/"]              = 4.45; petsc["src/app/linkmatrix/"]          = "public"
  layer["src/app/"]                         = 4.5; petsc["src/app/"]                     = "public"
  layer["solvers/"]                         = 9; petsc["solvers/"]                         = "public petsc/private/taoimpl.h petsc/private/petscimpl.h"
  layer["examples/"]                        = 10; petsc["examples/"]                        = "public"
  layer["src/"]                             = 11; petsc["src/"]                             = "public petsc/private/petscimpl.h"
}
function moduleof(path,   r, best) { best = ""; for (r in layer) if (index(path, r) == 1 && length(r) > length(best)) best = r; return best }
function say(what) { printf "%s:%s: %s\n", file, line, what; bad = 1 }
{
  split($0, part, ":"); file = part[1]; line = part[2]
  text = $0; sub(/^[^:]*:[^:]*:/, "", text)
  match(text, /[<"][^>"]*[>"]/); target = substr(text, RSTART + 1, RLENGTH - 2); quoted = substr(text, RSTART, 1) == "\""
  mine = moduleof(file); dir = file; sub(/[^\/]*$/, "", dir)

  if (target ~ /^petsc/) {
    if (file ~ /\.cuh?$/) say("a .cu file may not include PETSc headers: " target)
    else if (file != "src/gpucsrcompat.h") {
      allowed = index(" " petsc[mine] " ", " " target " ") || (petsc[mine] ~ /^public/ && target !~ /\/private\//)
      if (!allowed) say("this directory may not include " target)
    }
    next
  }
  if (target ~ /^(cuda|cub\/|thrust\/|cusparse|cublas|cooperative_groups)/) {
    if (file !~ /\.cuh?$/) say("CUDA headers may be included by .cu files only: " target)
    next
  }
  if (!quoted && target !~ /^gpucsr.*\.c?u?h$/) next # the C library, MPI

  if (target == "gpucsrcompat.h") { if (file ~ /\.cuh?$/ || layer[mine] < 3) say("this directory may not include gpucsrcompat.h"); next }
  else if (target ~ /^gpucsrdevice(types\.h|\.cuh)$/) theirs = "src/device/" # installed, but without PETSc
  else if (target ~ /^gpucsr.*\.h$/) theirs = "include/"
  else if (file ~ /^(solvers|examples)\// && target !~ /\//) next # a file of the same directory
  else if (target !~ /\//) { say("write the path from src/, so that it names the directory: " target); next }
  else theirs = moduleof(target ~ /^(solvers|examples)\// ? target : "src/" target)

  if (theirs == "src/") { if (mine != "src/") say("this header belongs to no directory of the table: " target); next }
  if (target == "device/gpdeviceimpl.h" && mine != "src/device/") say("only src/device/ may include this header; use the functions of device/gpdevice.h")
  if (mine == "examples/" && target ~ /^device\//) say("examples use the public interface: gpucsrdevice.h")
  if (theirs == mine) {
    family = target; sub(/^mat\/impls\/gpucsr\/spmv\//, "", family); sub(/\/.*/, "", family)
    if (mine == "src/mat/impls/gpucsr/spmv/" && dir != mine family "/" && family !~ /^(common|csr)$/) say("a kernel family may include headers of its own folder, of common/ and of csr/ only: " target)
    next
  }
  if (layer[theirs] >= layer[mine]) say("layer " layer[mine] " includes a header of layer " layer[theirs] ": " target)
  else if (mine == "examples/" && theirs == "solvers/" && target ~ /\.def$/) next # a table of a solver, for the help text of its program
  else if (mine ~ /^(solvers|examples)/ && theirs !~ /^(include\/|src\/device\/|src\/app\/[a-z]*\/?)$/) say("solvers and examples may include headers of include/, src/app/ and src/device/ only: " target)
  else if (mine == "src/vec/" && theirs !~ /^(include|src\/device|src\/sys|src\/vec\/kernels)\/$/) say("src/vec/ may include gpucsr.h and headers of src/device/, src/sys/ and its own kernels only: " target)
  else if (mine == "src/vec/kernels/" && theirs != "src/device/") say("src/vec/kernels/ may include headers of src/device/ only: " target)
}
END { exit bad }' || bad=1
exit $bad
