#!/usr/bin/env bash
# Checkpoints of bmrm, kmeans and smacof: damaged, manipulated and old ones are errors, and a full disk does not stop the run.  Prints TAP.
set -u
. "$(dirname "$0")/../env.sh"
bin=$BUILD/bin data=$ROOT/tests/app/data
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
limit=unlimited # in kB, the size of a file
awk 'BEGIN { srand(3); for (i = 0; i < 60; i++) { y = i % 2 ? 1 : -1; printf "%d", y; for (k = 1; k <= 8; k++) printf " %d:%.4f", k, y * rand() + 2 * rand(); print "" } }' >train
awk 'BEGIN { srand(5); for (i = 0; i < 12; i++) { x[i] = rand(); y[i] = rand(); z[i] = rand() } for (i = 0; i < 12; i++) for (k = 0; k < 12; k++) printf "%.5f%s", sqrt((x[i]-x[k])^2 + (y[i]-y[k])^2 + (z[i]-z[k])^2), k < 11 ? "," : "\n" }' >delta
run() { # run PROGRAM ARGUMENTS: output in $tmp/log, the code is returned
  local program=$1 set
  shift
  case $program in
  bmrm) set=(-f train -mat_type aij -bmrm_lambda 1e-4 -bmrm_eps 1e-9) ;;
  kmeans) set=(-f delta -kmeans_clusters 4 -kmeans_seed 3 -kmeans_restarts 3) ;;
  smacof) set=(-f delta -smacof_starts 5 -smacof_batch 2 -smacof_eps 1e-12) ;;
  esac
  (ulimit -f "$limit" && exec timeout 20 "$bin/$program" -gpucsr_device "$GPUCSR_DEVICE" "${set[@]}" "$@") 2>&1 | cat >log
  return "${PIPESTATUS[0]}"
}
verdict() {
  local rc=$?
  if [ $rc -eq 0 ]; then ok "checkpoint: $1"; else not_ok "checkpoint: $1" log; fi
}
refused() { # refused MESSAGE PROGRAM OPTION FILE: code 4, and one line that names the file
  local message=$1
  shift
  run "$@"
  [ $? -eq 4 ] && grep -qF -- "$1: $3: $message" log && [ "$(grep -c "$3" log)" -eq 1 ] && ! grep -q PETSC log
}
# craft FILE: writes bad/flip.* with one changed bit, and bad/seal.* with one changed word and the checksum of the new contents
craft() {
  rm -rf bad && mkdir bad
  python3 - "$1" <<'P'
import struct, sys
table = []
for i in range(256):
    for _ in range(8):
        i = i >> 1 ^ (0xC96C5795D7870F42 if i & 1 else 0)
    table.append(i)
whole = open(sys.argv[1], "rb").read()
words = (len(whole) - 48) // 8
for k in range(10):
    a = bytearray(whole)
    bit = (k * 7919 * 101 + 5) % (8 * len(a))
    a[bit // 8] ^= 1 << bit % 8
    open("bad/flip.%d" % bit, "wb").write(a)
for k in range(28):
    a = bytearray(whole)
    word = k if k < 16 else k * 37 % words
    a[32 + 8 * word : 40 + 8 * word] = [b"\xff" * 8, struct.pack("=q", 1 << 62), struct.pack("=d", 1e308)][k % 3]
    crc = 0xFFFFFFFFFFFFFFFF
    for byte in a[:-8]:
        crc = crc >> 8 ^ table[(crc ^ byte) & 255]
    a[-8:] = struct.pack("=Q", crc ^ 0xFFFFFFFFFFFFFFFF)
    open("bad/seal.%d" % word, "wb").write(a)
P
}

run bmrm -bmrm_max_it 6 -bmrm_checkpoint bmrm.ck -bmrm_checkpoint_every 2
[ $? -eq 3 ] && run bmrm -bmrm_restart bmrm.ck
verdict "bmrm continues"
run smacof -checkpoint smacof.ck -checkpoint_every 40 && run smacof -restart smacof.ck
verdict "smacof continues"
"$MPIEXEC" -n 2 "$bin/smacof" -gpucsr_device "$GPUCSR_DEVICE" -f delta -smacof_starts 5 -smacof_batch 2 -smacof_eps 1e-12 -restart smacof.ck >log 2>&1 && grep -q CONVERGED_STRESS log
verdict "smacof continues on another number of ranks"
run kmeans -kmeans_checkpoint kmeans.ck -kmeans_checkpoint_every 2 && run kmeans -kmeans_restart kmeans.ck
verdict "kmeans continues"
for pair in bmrm:-bmrm_restart kmeans:-kmeans_restart smacof:-restart; do
  program=${pair%%:*} option=${pair##*:} good=1
  craft "$program.ck"
  for file in bad/flip.*; do
    refused "is " "$program" "$option" "$file" || { good=0 && echo "$file" >>log && break; }
  done
  [ $good = 1 ]
  verdict "$program rejects a file with one changed bit"
  head -c $(($(wc -c <"$program.ck") * 3 / 4)) "$program.ck" >cut && refused "is damaged or truncated: its checksum does not match its contents" "$program" "$option" cut
  verdict "$program rejects a truncated file"
  # files with a valid checksum: an impossible value is an error, a run continues from a possible one; no crash and no endless loop
  for file in bad/seal.*; do
    run "$program" "$option" "$file"
    case $? in 0 | 2 | 3 | 4) ;; *) good=0 && echo "$file" >>log && break ;; esac
  done
  [ $good = 1 ]
  verdict "$program checks the values of a file whose checksum is right"
done
for file in bmrm3 smacof4; do
  program=${file%?}
  cp "$data/$file.checkpoint" old
  refused "is a checkpoint of an older version of $program" "$program" "$([ "$program" = bmrm ] && echo -bmrm_restart || echo -restart)" old
  verdict "$program rejects the format of an older version"
done
refused "is a checkpoint of another program than smacof" smacof -restart bmrm.ck && refused "is a checkpoint of another program than kmeans" kmeans -kmeans_restart bmrm.ck && refused "is not a checkpoint" smacof -restart train && refused "is not a regular file" bmrm -bmrm_restart /dev/null && refused "Is a directory" bmrm -bmrm_restart "$tmp" && refused "No such file or directory" bmrm -bmrm_restart nowhere
verdict "files of another program are rejected"
mkfifo pipe && refused "is not a regular file" smacof -restart pipe
verdict "a pipe is rejected at once"

# --- a checkpoint that cannot be written is a warning; the results are there -----------------------------------------------------------
rm -f out && cp bmrm.ck kept && limit=1
run bmrm -bmrm_checkpoint kept -bmrm_checkpoint_every 2 -model out && grep -q 'bmrm: warning: the checkpoint kept was not written: File too large; the run continues' log && [ -s out ] && cmp bmrm.ck kept && [ -z "$(find . -name '*.part')" ]
verdict "a full disk: bmrm continues and writes the model"
rm -f out && cp smacof.ck kept
run smacof -checkpoint kept -checkpoint_every 40 -coordinates out && grep -q 'smacof: warning: the checkpoint kept was not written: File too large; the run continues' log && [ -s out ] && cmp smacof.ck kept && [ -z "$(find . -name '*.part')" ]
verdict "a full disk: smacof continues and writes the map"
rm -f out && cp kmeans.ck kept && limit=0
run kmeans -kmeans_checkpoint kept -kmeans_checkpoint_every 2 && grep -q 'kmeans: warning: the checkpoint kept was not written: File too large; the run continues' log && grep -q CONVERGED_LABELS log && cmp kmeans.ck kept && [ -z "$(find . -name '*.part')" ]
verdict "a full disk: kmeans continues"
