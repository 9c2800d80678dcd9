#!/usr/bin/env bash
# Sourced by the test scripts of the program kmeans.
#
#   run RANKS ARGUMENTS           runs the program; its output is in $tmp/log
#   compare COMMAND ARGUMENTS     a command of the script $1; what it prints is appended to $tmp/log
#   verdict NAME                  prints the result of the last command
#
#   PYTHON   a Python with numpy, and optionally scikit-learn; default /usr/bin/python3
#
# One Python process runs all comparisons, because imports take longer than most of them.
. "$(dirname "$0")/../env.sh"
program=$BUILD/bin/kmeans
[ -x "$program" ] || { not_ok "kmeans is built ($program)"; exit 1; }
python=${PYTHON:-/usr/bin/python3}
[ -x "$python" ] || python=python3
if ! "$python" -c 'import numpy' 2>/dev/null; then
  skip "kmeans beside numpy" "$python has no numpy"
  exit 0
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
coproc PEER { exec "$python" -W ignore "$1" serve; }
exec {request}>&"${PEER[1]}" {answer}<&"${PEER[0]}"

run() {
  local n=$1
  shift
  "$MPIEXEC" -n "$n" "$program" -gpucsr_device "$GPUCSR_DEVICE" "$@" >"$tmp/log" 2>&1
}
compare() {
  local IFS=$'\t' line
  echo "$tmp/log"$'\t'"$*" >&"$request"
  read -r line <&"$answer" && [ "$line" = ok ]
}
verdict() { if [ $? -eq 0 ]; then ok "$1"; else not_ok "$1" "$tmp/log"; fi; }
