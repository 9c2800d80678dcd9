#!/usr/bin/env bash
# Rooms and ranks: a file includes only from its own room and from rooms of a lower rank, by paths written from src/, and
# sees no more of PETSc than its room may.  The table below is that of docs/architecture.md.
cd "$(dirname "$0")/../.." || exit 1
grep -rnE '^[[:space:]]*#[[:space:]]*include' --include='*.c' --include='*.h' --include='*.cu' --include='*.cuh' src include solvers examples 2>/dev/null | awk '
BEGIN {
  # room                          rank, PETSc headers it may see ("" none, "public" every header without "private")
  room["src/device/"]                      = 0; petsc["src/device/"]                      = ""
  room["src/mat/impls/gpucsr/formats/"]    = 1; petsc["src/mat/impls/gpucsr/formats/"]    = "petscsys.h"
  room["src/mat/impls/gpucsr/kernels/"]    = 2; petsc["src/mat/impls/gpucsr/kernels/"]    = ""
  room["src/vec/kernels/"]                 = 2; petsc["src/vec/kernels/"]                 = ""
  room["src/mat/impls/gpucsr/selector/"]   = 3; petsc["src/mat/impls/gpucsr/selector/"]   = "petscsys.h"
  room["src/sys/"]                         = 3; petsc["src/sys/"]                         = "public petsc/private/petscimpl.h"
  room["src/mat/impls/gpucsr/operator/"]   = 4; petsc["src/mat/impls/gpucsr/operator/"]   = "petscsys.h"
  room["src/vec/"]                         = 4; petsc["src/vec/"]                         = "public petsc/private/vecimpl.h petsc/private/petscimpl.h petsc/private/deviceimpl.h petsc/private/sfimpl.h petsc/private/hashmap.h"
  room["include/"]                         = 2; petsc["include/"]                         = "public"
  room["src/mat/impls/gpucsr/"]            = 5; petsc["src/mat/impls/gpucsr/"]            = "public petsc/private/matimpl.h petsc/private/vecimpl.h petsc/private/petscimpl.h"
  room["src/ksp/"]                         = 6; petsc["src/ksp/"]                         = "public petsc/private/kspimpl.h petsc/private/matimpl.h"
  room["src/app/"]                         = 5; petsc["src/app/"]                         = "public"
  room["solvers/"]                         = 6; petsc["solvers/"]                         = "public petsc/private/taoimpl.h petsc/private/petscimpl.h"
  room["examples/"]                        = 7; petsc["examples/"]                        = "public"
  room["src/"]                             = 8; petsc["src/"]                             = "public petsc/private/petscimpl.h"
}
function roomof(path,   r, best) { best = ""; for (r in room) if (index(path, r) == 1 && length(r) > length(best)) best = r; return best }
function say(what) { printf "%s:%s: %s\n", file, line, what; bad = 1 }
{
  split($0, part, ":"); file = part[1]; line = part[2]
  text = $0; sub(/^[^:]*:[^:]*:/, "", text)
  match(text, /[<"][^>"]*[>"]/); target = substr(text, RSTART + 1, RLENGTH - 2); quoted = substr(text, RSTART, 1) == "\""
  mine = roomof(file); dir = file; sub(/[^\/]*$/, "", dir)

  if (target ~ /^petsc/) {
    if (file ~ /\.cuh?$/) say("a .cu file sees no PETSc, includes " target)
    else if (file != "src/gpucsrcompat.h") {
      allowed = index(" " petsc[mine] " ", " " target " ") || (petsc[mine] ~ /^public/ && target !~ /\/private\//)
      if (!allowed) say("this room may not see " target)
    }
    next
  }
  if (target ~ /^(cuda|cub\/|thrust\/|cusparse|cublas|cooperative_groups)/) {
    if (file !~ /\.cuh?$/) say("CUDA headers belong into .cu files: " target)
    next
  }
  if (!quoted && target !~ /^gpucsr.*\.h$/) next # the C library, MPI

  if (target == "gpucsrcompat.h") { if (file ~ /\.cuh?$/ || room[mine] < 3) say("this room may not see gpucsrcompat.h"); next }
  else if (target ~ /^gpucsr.*\.h$/) theirs = "include/"
  else if (file ~ /^(solvers|examples)\// && target !~ /\//) next # a file beside it
  else if (target !~ /\//) { say("write the include from src/, so that it names its room: " target); next }
  else theirs = roomof(target ~ /^(solvers|examples)\// ? target : "src/" target)

  if (theirs == "src/") { if (mine != "src/") say("this is nobody'\''s room: " target); next }
  if (theirs == mine) next
  if (room[theirs] >= room[mine]) say("rank " room[mine] " includes from rank " room[theirs] ": " target)
  else if (mine ~ /^(solvers|examples)/ && theirs !~ /^(include|src\/device|src\/app)\/$/) say("solvers and examples see include/, src/app/ and src/device/ only: " target)
  else if (mine == "src/vec/" && theirs !~ /^(include|src\/device|src\/sys|src\/vec\/kernels)\/$/) say("src/vec/ sees gpucsr.h, src/device/, src/sys/ and its own kernels only: " target)
  else if (mine == "src/vec/kernels/" && theirs != "src/device/") say("src/vec/kernels/ sees src/device/ only: " target)
}
END { exit bad }'
