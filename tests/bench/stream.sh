#!/usr/bin/env bash
# Measures everything about streamed data in about 200 s on a GPU: stream.sh FOLDER [options].  stream.py has the options; this script sets the environment.
set -u
if [ -z "${GPUCSR_DEVICE:-}" ] && { ls /dev/nvidia[0-9]* >/dev/null 2>&1 || nvidia-smi -L >/dev/null 2>&1; }; then export GPUCSR_DEVICE=cuda; fi
[ $# -ge 1 ] || { echo "usage: stream.sh folder [options of stream.py]" >&2; exit 1; }
mkdir -p "$1" || exit 1
folder=$(cd "$1" && pwd)
shift
. "$(dirname "$0")/../env.sh"
export OMPI_MCA_mpi_yield_when_idle=0 # each rank of the peers has a core of its own
programs=(bench_bigkernel bench_stream bench_streammat bench_chunkfile)
if [ "${GPUCSR_PREBUILT:-}" != 1 ]; then make -s "${programs[@]/#/${BUILD#"$ROOT"/}/bin/}" || exit 1; fi
python=$(command -v python3 || echo /opt/torch/.venv/bin/python3)
exec "$python" tests/bench/stream.py "$folder" "$@"
