#!/usr/bin/env bash
# PETSc's own example programs with -mat_type gpucsr and -vec_type gpu: while a Krylov method iterates no vector is copied between host
# and device, so that a solve of three times as many iterations copies no more.  -log_view counts the copies.
set -u
. "$(dirname "$0")/../env.sh"
work=$BUILD/tests/resident
mkdir -p "$work"
examples=
for dir in "$PETSC_DIR/$PETSC_ARCH/share/petsc/examples" "$PETSC_DIR"; do
  if [ -z "$examples" ] && [ -f "$dir/src/ksp/ksp/tutorials/ex2.c" ]; then examples=$dir/src; fi
done
options="-dll_append $GPUCSR_LIB -gpucsr_device $GPUCSR_DEVICE -log_view"
[ "$GPUCSR_DEVICE" != host ] || options="$options -vec_gpu_separate -mat_gpucsr_vec_type gpu" # separate device memory, as on a GPU, and diagonals in it
krylov="cg bcgs gmres chebyshev tfqmr" # Krylov methods of the runs
pcs="jacobi none"                      # preconditioners of the runs
prefix=                                # options prefix of the solver in the example
ranks=1                                # processes of the runs
label=                                 # what distinguishes a run from others of the same example

program() { # builds an example program of PETSc unless it exists
  local target=$work/${1//\//-}
  [ -x "$target" ] || { [ -n "$examples" ] && [ -f "$examples/$1.c" ] && make -s --no-print-directory BUILD="$BUILD" client SOURCE="$examples/$1.c" TARGET="$target" >"$target.log" 2>&1; }
}
counted() { # file: how many products there were, matrices uploaded and vectors copied
  awk '$1 == "MatMult" { mult = $2 } $1 == "GPUCSRUpload" { uploads = $2 } $1 ~ /^Vec(GPUUpload|GPUDownload|CUDACopyTo|CUDACopyFrom)$/ { copies += $2 }
    END { print mult + 0, uploads + 0, copies + 0 }' "$1"
}
resident() { # program, linear solves of a run, options...
  local name=$1 solves=$2 target=$work/${1//\//-} ksp pc most its pids mult uploads copies a b c bad=
  shift 2
  if ! program "$name"; then
    skip "$name$label: vectors stay on the device" "PETSc's examples are not installed, or did not compile"
    return
  fi
  for ksp in $krylov; do
    for pc in $pcs; do
      # -ksp_rtol for Richardson: PCMG iterates by itself there, and tests the tolerance whatever the test of the KSP is
      most=$([ $pc = none ] && echo 1000 || echo 2.1) # bounds that keep Chebyshev's iterates small
      pids=()
      for its in 4 12; do # side by side, for most of a short run is waiting
        # shellcheck disable=SC2086
        (cd "$work" && exec timeout 120 "$MPIEXEC" -n $ranks "$target" "$@" $options -${prefix}ksp_type $ksp -${prefix}pc_type $pc -${prefix}ksp_max_it $its -${prefix}ksp_rtol 1e-50 -${prefix}ksp_convergence_test skip -ksp_chebyshev_eigenvalues 0.01,$most) >"$target.$its" 2>&1 </dev/null &
        pids+=($!)
      done
      if ! wait "${pids[0]}"; then
        not_ok "$name$label with $ksp and $pc runs" "$target.4"
        return
      fi
      if ! wait "${pids[1]}"; then
        not_ok "$name$label with $ksp and $pc runs" "$target.12"
        return
      fi
      read -r mult uploads copies <<<"$(counted "$target.4")"
      read -r a b c <<<"$(counted "$target.12")"
      if [ "$uploads" -lt 1 ] || [ $((a - mult)) -lt $((8 * solves)) ] || [ "$copies" -ne "$c" ]; then
        bad="$bad; $ksp, $pc: $mult products, $uploads uploads, $copies copies; $a, $b, $c with 8 iterations more"
      fi
    done
  done
  if [ -z "$bad" ]; then ok "$name$label: vectors stay on the device"; else not_ok "$name$label: vectors stay on the device$bad"; fi
}

dm="-dm_mat_type gpucsr -dm_vec_type gpu"
cube="-cells 3,3,3 -dm_plex_dim 3 -dm_plex_simplex 0 -dm_plex_box_faces 3,3,3" # as older and as newer releases have it
once="-snes_convergence_test skip -snes_linesearch_type basic -snes_max_it"
resident ksp/ksp/tutorials/ex2 1 -m 40 -n 40 -mat_type gpucsr -vec_type gpu
pcs="ilu icc"
resident ksp/ksp/tutorials/ex2 1 -m 40 -n 40 -mat_type gpucsr -vec_type gpu -pc_factor_levels 1
for method in jacobi isai; do
  krylov="cg gmres"
  resident ksp/ksp/tutorials/ex2 1 -m 40 -n 40 -mat_type gpucsr -vec_type gpu -pc_factor_mat_ordering_type rcm -mat_gpucsr_trisolve $method -mat_gpucsr_trisolve_sweeps 3
done
krylov="cg bcgs gmres chebyshev tfqmr"
pcs=gpupoly
for more in "" "-pc_gpupoly_type leastsquares -pc_gpupoly_degree 3" "-pc_gpupoly_scale none -pc_gpupoly_eigenvalues 0.05,8"; do
  # shellcheck disable=SC2086
  resident ksp/ksp/tutorials/ex2 1 -m 40 -n 40 -mat_type gpucsr -vec_type gpu $more
done
pcs=sor
resident ksp/ksp/tutorials/ex2 1 -m 40 -n 40 -mat_type gpucsr -vec_type gpu -mat_gpucsr_sor multicolor
pcs="gpufsai gpuspai"
resident ksp/ksp/tutorials/ex2 1 -m 40 -n 40 -mat_type gpucsr -vec_type gpu -pc_gpufsai_power 2
pcs="jacobi none"
for ranks in 1 2; do
  krylov="cg gmres" pcs="bjacobi asm gasm" label=", blocks, ranks: $ranks"
  resident ksp/ksp/tutorials/ex2 1 -m 40 -n 40 -mat_type gpucsr -vec_type gpu -sub_pc_type ilu
  label=", three blocks a rank, ranks: $ranks"
  resident ksp/ksp/tutorials/ex2 1 -m 40 -n 40 -mat_type gpucsr -vec_type gpu -pc_bjacobi_local_blocks 3 -pc_asm_local_blocks 3 -pc_gasm_total_subdomains 6 -pc_gasm_overlap 1 -sub_pc_type ilu
  krylov=gmres pcs=composite
  for type in additive multiplicative; do
    label=", $type, ranks: $ranks"
    resident ksp/ksp/tutorials/ex2 1 -m 40 -n 40 -mat_type gpucsr -vec_type gpu -pc_composite_type $type -pc_composite_pcs bjacobi,gpufsai
  done
  krylov=richardson pcs=gamg
  for smoother in sor bjacobi gpufsai; do
    label=", $smoother as smoother, ranks: $ranks"
    resident ksp/ksp/tutorials/ex2 1 -m 40 -n 40 -mat_type gpucsr -vec_type gpu -gpucsr_sor multicolor -mg_levels_pc_type $smoother
  done
  label=", Richardson with sor as smoother, ranks: $ranks"
  resident ksp/ksp/tutorials/ex2 1 -m 40 -n 40 -mat_type gpucsr -vec_type gpu -gpucsr_sor multicolor -mg_levels_pc_type sor -mg_levels_ksp_type richardson
  krylov=cg pcs=gpuamg
  for smoother in chebyshev sor $([ $ranks = 2 ] || echo l1jacobi gpufsai); do
    label=", $smoother as smoother, ranks: $ranks"
    resident ksp/ksp/tutorials/ex2 1 -m 40 -n 40 -mat_type gpucsr -vec_type gpu -gpucsr_sor multicolor -pc_gpuamg_smoother $smoother -pc_gpuamg_cycle w -pc_gpuamg_coarse_limit 20
  done
  krylov="cg gmres" pcs=pbjacobi label=", blocks of unknowns, ranks: $ranks"
  # shellcheck disable=SC2086
  resident snes/tutorials/ex19 1 -da_grid_x 12 -da_grid_y 12 $once 1 $dm
  krylov=gmres pcs=fieldsplit
  for type in additive multiplicative symmetric_multiplicative; do
    label=", $type, ranks: $ranks"
    # shellcheck disable=SC2086
    resident snes/tutorials/ex19 1 -da_grid_x 12 -da_grid_y 12 $once 1 $dm -pc_fieldsplit_type $type
  done
  label=", two fields, Schur complement, ranks: $ranks"
  # PETSc 3.26.1 with debugging refuses the vectors of a DMDA's fields, whose type is not set: split by index sets, not by the DM
  # shellcheck disable=SC2086
  resident snes/tutorials/ex19 1 -da_grid_x 12 -da_grid_y 12 $once 1 $dm -pc_fieldsplit_0_fields 0,1 -pc_fieldsplit_1_fields 2,3 -pc_fieldsplit_type schur -pc_fieldsplit_dm_splits 0 -fieldsplit_1_ksp_max_it 3 -fieldsplit_1_ksp_convergence_test skip
done
krylov="cg bcgs gmres chebyshev tfqmr" pcs="jacobi none" ranks=1 label=
# shellcheck disable=SC2086
{
  resident ksp/ksp/tutorials/ex45 1 -da_grid_x 12 -da_grid_y 12 -da_grid_z 12 $dm
  resident ksp/ksp/tutorials/ex46 1 -da_grid_x 40 -da_grid_y 40 $dm
  resident snes/tutorials/ex5 2 -da_grid_x 30 -da_grid_y 30 $once 2 $dm
  resident snes/tutorials/ex19 1 -da_grid_x 12 -da_grid_y 12 $once 1 $dm # not symmetric: a second step of CG is no step
  resident snes/tutorials/ex56 1 $cube -max_conv_its 1 -petscspace_degree 2 -snes_type ksponly $dm -ex56_dm_mat_type gpucsr -ex56_dm_vec_type gpu
  resident ts/tutorials/phasefield/heat 2 -square_initial -da_grid_x 60 -ts_type beuler -ts_max_steps 2 -ts_adapt_type none $once 1 $dm
  krylov="cg stcg" pcs=none prefix=tao_nls_
  resident tao/unconstrained/tutorials/eptorsion2 2 -mx 30 -my 30 -tao_type nls -tao_max_it 2 $dm # a quadratic, with Newton's method
}
