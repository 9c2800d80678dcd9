#!/usr/bin/env bash
# The mpiexec of the tests: runs the mpiexec that tests/env.sh found, with a session folder of its own for each run of Open MPI.
#
# By default all runs of a user share one session folder, and a run that ends removes it while another run starts
# ("A call to mkdir was unable to create the desired directory").  Other MPI implementations ignore these variables.
#
# One rank is started without mpiexec and session folder, in half the time, with the same time limit.
if [ "${1:-} ${2:-}" = "-n 1" ]; then
  shift 2
  export OMPI_MCA_orte_create_session_dirs=0
  exec ${MPIEXEC_TIMEOUT:+timeout "$MPIEXEC_TIMEOUT"} "$@"
fi
# Several ranks run without the filling of freed memory that tests/harness.sh requests. In MPI_Finalize() a thread of PMIx 4.2.2 (Debian 12) can read a string that another thread has
# freed. With filled memory, about one run in several thousand then crashes after its output.
unset MALLOC_PERTURB_
OMPI_MCA_orte_tmpdir_base=$(mktemp -d) || exit 1
export OMPI_MCA_orte_tmpdir_base
trap 'rm -rf "$OMPI_MCA_orte_tmpdir_base"' EXIT
trap 'kill -TERM "$!"' TERM INT HUP
# After a rank has aborted, mpiexec of Open MPI 4.1.4 with PMIx 4.2.2 (Debian 12) can deadlock in PMIx_server_finalize(). It then ignores both TERM and its own MPIEXEC_TIMEOUT.
# timeout sends KILL three seconds after it has passed on TERM, and three seconds after its own limit. The limit 0 is none.
# shellcheck disable=SC2086 # it may hold options
timeout -k 3 "$((${MPIEXEC_TIMEOUT:--10} + 10))" $GPUCSR_MPIEXEC "$@" <&0 &
wait "$!"
code=$?
[ "$code" -le 128 ] || { wait "$!"; code=$?; } # a signal interrupts wait, but not the run
exit "$code"
