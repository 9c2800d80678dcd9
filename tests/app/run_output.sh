#!/usr/bin/env bash
# Output files of the programs: links, devices, pipes, permissions, outputs that are inputs, a full disk, signals.  Prints TAP.
set -u
. "$(dirname "$0")/../env.sh"
bin=$BUILD/bin
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
umask 022
limit=unlimited # in kB, the size of a file
device=(-gpucsr_device "$GPUCSR_DEVICE")
awk 'BEGIN { srand(3); for (i = 0; i < 60; i++) { y = i % 2 ? 1 : -1; printf "%d", y; for (k = 1; k <= 8; k++) printf " %d:%.4f", k, y * rand() + 0.9 * rand(); print "" } }' >train
awk 'BEGIN { srand(5); for (i = 0; i < 30; i++) { x[i] = rand(); y[i] = rand() } for (i = 0; i < 30; i++) for (k = 0; k < 30; k++) printf "%.5f%s", sqrt((x[i]-x[k])^2 + (y[i]-y[k])^2), k < 29 ? "," : "\n" }' >delta
printf '0 1\n1 2\n2 0\n2 1\n' >links

# --- helpers: one call of each program writes one of its outputs ---------------------------------------------------------------------
outputs=(bmrm:-model bmrm:-report bmrm:-picture bmrm:-save_binary bmrm:-bmrm_checkpoint bmrm:-predictions pagerank:-ranks pagerank:-ranks_binary pagerank:-picture pagerank:-report
  network:-values network:-values_binary network:-picture network:-report
  kmeans:-labels kmeans:-labels_binary kmeans:-centroids kmeans:-centroids_binary kmeans:-predictions kmeans:-picture kmeans:-report kmeans:-kmeans_checkpoint
  smacof:-coordinates smacof:-coordinates_binary smacof:-stress_per_point smacof:-report smacof:-map smacof:-shepard_data smacof:-checkpoint)
run() { # run PROGRAM ARGUMENTS: output in $tmp/log, the code is returned
  local program=$1 input
  shift
  case $program in
  bmrm) input=(-f train -bmrm_checkpoint_every 1 -test train) ;;
  kmeans)
    input=(-f delta -kmeans_clusters 3 -kmeans_checkpoint_every 1)
    [[ " $* " != *" -predictions "* ]] || input+=(-predict delta)
    ;;
  pagerank | network) input=(-f links) ;;
  smacof) input=(-f delta -checkpoint_every 1) ;;
  esac
  (ulimit -f "$limit" && exec timeout 30 "$bin/$program" "${device[@]}" "${input[@]}" "$@") 2>&1 | cat >log
  return "${PIPESTATUS[0]}"
}
verdict() {
  local rc=$?
  if [ $rc -eq 0 ]; then ok "output: $1"; else not_ok "output: $1" log; fi
}
clean() { [ -z "$(find . "${TMPDIR:-/tmp}" -maxdepth 1 \( -name '*.part' -o -name 'gpucsr-*' \) 2>/dev/null | grep -v gpucsr-test)" ] || { find . -name '*.part' >>log; false; }; }
refused() { # refused CODE MESSAGE PROGRAM ARGUMENTS: ends with the code and the message, and leaves nothing behind
  local code=$1 message=$2 rc
  shift 2
  run "$@"
  rc=$?
  [ $rc -eq "$code" ] && grep -qF -- "$message" log && clean
}

# --- links, permissions, names ---------------------------------------------------------------------------------------------------------
written() { # every output is written through a link onto a file that keeps its permissions
  for o in "${outputs[@]}"; do
    rm -rf d
    mkdir d
    echo old >d/target
    chmod 600 d/target
    ln -s d/target link
    run "${o%%:*}" "${o##*:}" link
    [ -L link ] && [ "$(stat -c %a d/target)" = 600 ] && [ "$(head -c 3 d/target | tr -d '\0')" != old ] && [ "$(ls -A d)" = target ] || { echo "$o" >>log; return 1; }
    rm link
  done
}
written && clean
verdict "all outputs are written through a link and keep their permissions"
rm -rf d && mkdir d && ln -s d/new link && (umask 027 && run bmrm -model link) && [ "$(stat -c %a d/new)" = 640 ] && [ -L link ] && rm link
verdict "a link to a file that does not exist yet; umask"
ln -s loop1 loop2 && ln -s loop2 loop1 && refused 5 "cannot create loop1: Too many levels of symbolic links" bmrm -report loop1
verdict "links in a circle"
refused 5 "cannot create d: Is a directory" pagerank -ranks d
verdict "an output that is a folder"
long=$(printf 'x%.0s' {1..250})
mkdir -p t.mp && TMPDIR=$tmp/t.mp run smacof -coordinates "$long" -map "${long:0:246}.ppm" && [ -s "$long" ] && [ "$(wc -c <"${long:0:246}.ppm")" -gt 300000 ] && rm "$long" "${long:0:246}.ppm" && [ -z "$(ls -A t.mp)" ] && clean
verdict "names of 250 characters, and a TMPDIR with a dot"
if [ "$(id -u)" -ne 0 ]; then
  echo old >only && chmod 400 only && refused 5 "cannot create only: Permission denied" bmrm -report only && [ "$(cat only)" = old ]
  verdict "a file that is read-only"
elif setpriv --reuid 65534 --regid 65534 --clear-groups "$bin/bmrm" --version >/dev/null 2>&1; then
  chmod 777 . && echo old >only && chmod 444 only && chown 65534 only
  setpriv --reuid 65534 --regid 65534 --clear-groups env HOME="$tmp" "$bin/bmrm" -f train -report only >log 2>&1
  [ $? -eq 5 ] && grep -q "cannot create only: Permission denied" log && [ "$(cat only)" = old ] && [ "$(stat -c %a only)" = 444 ]
  verdict "a file that is read-only"
  echo old >theirs && chown 65534:65534 theirs && run bmrm -report theirs && [ "$(stat -c %u:%g theirs)" = 65534:65534 ]
  verdict "a file keeps its owner"
else
  skip "output: a file that is read-only" "root may write to all files, and the user nobody may not run the program"
fi

# --- devices, pipes, descriptors -------------------------------------------------------------------------------------------------------
ln -s /proc/self/fd/1 stdout
"$bin/bmrm" "${device[@]}" -f train -report stdout >log && [ -L stdout ] && head -1 log | grep -q '^train: LIBSVM text' && grep -q '"rows": 60' log && [ "$(tail -1 log)" = "}" ]
verdict "an output to standard output follows the printed text if both go to a file"
good=1
for o in "${outputs[@]}"; do
  "$bin/${o%%:*}" "${device[@]}" $(case $o in bmrm*) echo -f train -test train ;; pagerank* | network*) echo -f links ;; kmeans:-predictions) echo -f delta -predict delta ;; *) echo -f delta ;; esac) "${o##*:}" /dev/fd/3 3>&1 >/dev/null 2>log | cat >piped
  [ -s piped ] || case $o in *checkpoint) ;; *) echo "$o" >>log && good=0 && break ;; esac
done
[ $good = 1 ]
verdict "all outputs can be written to a descriptor that is a pipe"
mkfifo fifo && { timeout 20 cat fifo >got & } && run pagerank -ranks_binary fifo && wait $! && [ -p fifo ] && run pagerank -ranks_binary file && cmp got file
verdict "a named pipe gets the same bytes as a file"
mkfifo -m 600 fifo2 && { (for ((k = 0; k < 200; k++)); do grep -q 'waiting for' log && break || sleep 0.1; done; timeout 20 cat fifo2 >/dev/null) & } && run bmrm -report /dev/null && run bmrm -report fifo2 && grep -q 'waiting for a reader of the pipe fifo2' log && wait && [ -c /dev/null ] && [ -p fifo2 ]
verdict "devices and pipes are not replaced by files"
refused 5 "cannot write /dev/full: No space left on device" smacof -coordinates_binary /dev/full
verdict "a full device"

# --- outputs that are inputs or other outputs ---------------------------------------------------------------------------------------------
collides() { # collides FILE MESSAGE PROGRAM ARGUMENTS: refused before the work; the file stays as it was
  local file=$1 before
  before=$(cksum <"$file")
  shift
  refused 2 "$@" && [ "$(cksum <"$file")" = "$before" ]
}
cp train copy && ln copy hard && ln -s copy soft
collides copy "-report copy would overwrite the input of -f" bmrm -f copy -report copy && collides copy "-model ./soft would overwrite the input of -f" bmrm -f copy -model ./soft &&
  collides copy "-picture hard would overwrite the input of -f" bmrm -f copy -picture hard && collides links "-ranks links would overwrite the input of -f" pagerank -ranks links &&
  collides delta "-map delta would overwrite the input of -f" smacof -map delta && collides train "-report train would overwrite the input of -test" bmrm -f copy -report train &&
  collides copy "-labels hard would overwrite the input of -f" kmeans -f copy -labels hard && collides copy "-centroids_binary soft would overwrite the input of -start_file" kmeans -start_file copy -centroids_binary soft &&
  collides copy "-picture copy would overwrite the input of -weights" kmeans -weights copy -picture copy && collides copy "-predictions copy would overwrite the input of -predict" kmeans -predictions copy -predict copy &&
  collides copy "-kmeans_checkpoint copy would overwrite the input of -f" kmeans -f copy -kmeans_checkpoint copy
verdict "an output that is an input"
ln -s d/same through && collides train "-model d/same and -report ./d//same are the same file" bmrm -model d/same -report ./d//same && collides train "-ranks d/same and -picture through are the same file" pagerank -ranks d/same -picture through &&
  collides train "-labels d/same and -labels_binary through are the same file" kmeans -labels d/same -labels_binary through &&
  collides train "-coordinates d/same and -map d/../d/same are the same file" smacof -coordinates d/same -map d/../d/same && [ ! -e d/same ]
verdict "two outputs that are the same file"
"$MPIEXEC" -n 2 "$bin/pagerank" "${device[@]}" -f links -ranks links >log 2>&1
[ $? -eq 2 ] && [ "$(grep -c 'would overwrite' log)" -eq 1 ] && "$MPIEXEC" -n 2 "$bin/pagerank" "${device[@]}" -f links -ranks_binary one >log 2>&1 && run pagerank -ranks_binary two && [ "$(wc -c <one)" -eq "$(wc -c <two)" ]
verdict "two ranks give the same result and a file of the same size"
run bmrm -bmrm_max_it 3 -bmrm_checkpoint ck; [ $? -eq 3 ] && run bmrm -bmrm_checkpoint ck -bmrm_restart ck
verdict "a checkpoint may be the one that a run restarts from"

# --- a full disk -----------------------------------------------------------------------------------------------------------------------
full() { # full CODE MESSAGE OUTPUT ARGUMENTS: the file would grow beyond the limit of 4 kB; it stays as it was
  local code=$1 message=$2 o=$3
  shift 3
  echo old >"d/${o##*:}.ppm"
  limit=4
  refused "$code" "$message" "${o%%:*}" "${o##*:}" "d/${o##*:}.ppm" "$@" && [ "$(cat "d/${o##*:}.ppm")" = old ] && [ -z "$(find d -name '.gpucsr*')" ]
  local rc=$?
  limit=unlimited
  return $rc
}
filled() { # every output of kmeans
  local o
  for o in labels labels_binary picture centroids centroids_binary report; do
    full 5 "File too large; the temporary file was removed" "kmeans:-$o" -f ring -kmeans_clusters 1900 || return 1
  done
  full 5 "File too large; the temporary file was removed" kmeans:-predictions -f ring -predict ring
}
rm -rf d && mkdir d
awk 'BEGIN { for (i = 0; i < 2000; i++) print i, (7 * i + 3) % 2000 }' >ring
cat train train train train train train train train >more
awk 'BEGIN { for (i = 0; i < 100; i++) for (k = 0; k < 100; k++) printf "%d%s", (i > k ? i - k : k - i), k < 99 ? "," : "\n" }' >wide
full 5 "File too large; the temporary file was removed" pagerank:-ranks_binary -f ring && full 5 "File too large; the temporary file was removed" pagerank:-ranks -f ring && full 5 "File too large; the temporary file was removed" bmrm:-save_binary -f more &&
  full 5 "no image in the directory for temporary files (TMPDIR or /tmp): File too large; the temporary file was removed" smacof:-map && full 5 "File too large; the temporary file was removed" smacof:-coordinates_binary -smacof_dim 8 -f wide &&
  filled
verdict "a limit of the file size: the message has the cause, the old file stays, no temporary file is left"
if unshare -rm sh -c "mount -t tmpfs -o size=16k none $tmp/d" 2>/dev/null; then
  unshare -rm bash -c "mount -t tmpfs -o size=16k none '$tmp/d' && head -c 8000 /dev/zero >d/other && '$bin/pagerank' -f ring -ranks_binary d/out; echo code \$?; ls -A d" >log 2>&1
  grep -q 'cannot write d/out: No space left on device; the temporary file was removed' log && grep -qx "code 5" log && [ "$(tail -1 log)" = other ] && ! grep -q part log
  verdict "a full file system"
else
  skip "output: a full file system" "this user may not mount a file system"
fi

# --- signals ---------------------------------------------------------------------------------------------------------------------------
awk 'BEGIN { srand(3); for (i = 0; i < 500; i++) { y = i % 2 ? 1 : -1; printf "%d", y; for (k = 1; k <= 60; k++) printf " %d:%.4f", k, y * rand() + 1.9 * rand(); print "" } }' >long
training=(bmrm -f long -bmrm_eps 0 -bmrm_qp_rtol 0 -bmrm_lambda 1e-9 -bmrm_max_it 100000000 -bmrm_checkpoint d/ck -bmrm_checkpoint_every 1)
clustering=(kmeans -generate 5000,4 -kmeans_clusters 30 -kmeans_restarts 1000000 -kmeans_checkpoint d/ck -kmeans_checkpoint_every 1)
ended() { # ended NAME NUMBER [LIBRARY]: the exit status of a run of many seconds (work) that writes checkpoints all the time, and what it leaves; LIBRARY is preloaded
  local k
  rm -rf d && mkdir d
  env --default-signal="$1" ${3:+LD_PRELOAD="$3"} "$bin/${work[0]}" "${device[@]}" "${work[@]:1}" >log 2>&1 &
  for ((k = 0; k < 1000; k++)); do
    [ -f d/ck ] && break
    sleep 0.01
  done
  kill -"$1" $!
  wait $! 2>/dev/null
  [ $? -eq $((128 + $2)) ] && [ "$(ls -A d)" = ck ] && ! grep -q PETSC log
}
work=("${clustering[@]}")
ended TERM 15 && work=("${training[@]}") && ended TERM 15 && ended INT 2 && ended HUP 1
verdict "signals end a run with status 128 + n, and no temporary file is left"
if ${CC:-cc} -shared -fPIC -o slow.so "$ROOT/tests/app/slow_create.c" -ldl >log 2>&1 && ! nm -D "$bin/bmrm" | grep -q __asan; then
  ended TERM 15 "$tmp/slow.so" && ended INT 2 "$tmp/slow.so"
  verdict "the same for a signal during the creation of a temporary file that a thread of MPI or BLAS receives"
else
  skip "output: signals during the creation of a temporary file" "no compiler for a preloaded library, or a sanitizer that must be loaded first"
fi
