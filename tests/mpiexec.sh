#!/usr/bin/env bash
# The mpiexec of the tests: the one that tests/env.sh found, with a folder of its own for what Open MPI keeps while it runs.
#
# All of a user's runs share one such folder otherwise, and the run that ends takes it away from under the one that begins
# ("A call to mkdir was unable to create the desired directory").  Another MPI does not read the variable.
OMPI_MCA_orte_tmpdir_base=$(mktemp -d) || exit 1
export OMPI_MCA_orte_tmpdir_base
trap 'rm -rf "$OMPI_MCA_orte_tmpdir_base"' EXIT
trap 'kill -TERM "$!"' TERM INT HUP
# shellcheck disable=SC2086 # it may hold options
$GPUCSR_MPIEXEC "$@" <&0 &
wait "$!"
code=$?
[ "$code" -le 128 ] || { wait "$!"; code=$?; } # a signal ends the waiting, not the run
exit "$code"
