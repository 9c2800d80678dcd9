#!/usr/bin/env bash
# The mpiexec of the tests: the one that tests/env.sh found, with a folder of its own for what Open MPI keeps while it runs.
#
# All of a user's runs share one such folder otherwise, and the run that ends takes it away from under the one that begins
# ("A call to mkdir was unable to create the desired directory").  Another MPI does not read the variables.
#
# One rank needs neither launcher nor folder: MPI starts it alone, in half the time.  It keeps the launcher's time limit.
if [ "${1:-} ${2:-}" = "-n 1" ]; then
  shift 2
  export OMPI_MCA_orte_create_session_dirs=0
  exec ${MPIEXEC_TIMEOUT:+timeout "$MPIEXEC_TIMEOUT"} "$@"
fi
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
