#!/usr/bin/env bash
# Where input comes from and how its text is encoded: standard input, pipes, compressed contents, byte-order marks, line ends.  Prints TAP.
set -u
. "$(dirname "$0")/../env.sh"
[ -x "$BMRM" ] || { not_ok "bmrm is built ($BMRM)"; exit 1; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
printf '2 1:1 2:0.5\n1 1:-1 3:0.25\n2 2:1\n1 1:-0.5 2:-1\n' >plain
train() { # train RANKS FILE: writes the model `model`; a run that hangs ends after 20 s
  rm -f model
  timeout 20 "$MPIEXEC" -n "$1" "$BMRM" -gpucsr_device host -f "$2" -mat_type aij -bmrm_lambda 0.01 -bmrm_eps 1e-9 -model model >log 2>&1
}
verdict() { if [ "$1" -eq 0 ]; then ok "$2"; else not_ok "$2" log; fi }
accepted() { # accepted NAME RANKS: of the run before; its model is that of the plain file
  local rc=$?
  [ $rc -eq 0 ] && cmp -s model "model$2"
  verdict $? "$1, $2 rank(s)"
}
refused() { # refused NAME FILE MESSAGE [RANKS...]: at once, with the same message on any number of ranks
  local name=$1 file=$2 message=$3 n rc
  shift 3
  for n in "${@:-1 3}"; do
    for n in $n; do
      train "$n" "$file"
      rc=$?
      [ $rc -ne 0 ] && [ $rc -lt 124 ] && grep -qF -- "$message" log && ! grep -q 'Segmentation' log && [ ! -e model ]
      verdict $? "refused: $name, $n rank(s)"
    done
  done
}
for n in 1 3; do
  train $n plain && cp model model$n
  verdict $? "a plain file, $n rank(s)"
done

# --- standard input and pipes ---------------------------------------------------------------------------------------------------
mkfifo fifo
for n in 1 3; do
  cat plain | train $n -
  accepted "standard input, a pipe" $n
  train $n - <plain
  accepted "standard input, a file" $n
  cat plain | train $n /dev/stdin
  accepted "/dev/stdin, a pipe" $n
  train $n /dev/stdin <plain
  accepted "/dev/stdin, a file" $n
  cat plain >fifo &
  train $n fifo
  accepted "a named pipe" $n
  wait
done
train 1 - </dev/null
grep -qF 'standard input: the file holds no examples' log
verdict $? "empty standard input is named"
printf '1 1:1\n2 1:x\n' | train 1 -
grep -qF "standard input:2:5: expected a finite number as value, got 'x'" log
verdict $? "errors name standard input and the line"
timeout 20 "$MPIEXEC" -n 1 "$BMRM" -gpucsr_device host -f - -test - -mat_type aij <plain >log 2>&1
[ $? -eq 2 ] && [ "$(cat log)" = 'bmrm: -f - and -test -: only one input can be standard input' ]
verdict $? "standard input serves one option"
timeout 20 "$MPIEXEC" -n 1 "$BMRM" -gpucsr_device host -f plain -model - -mat_type aij >log 2>&1
[ $? -eq 2 ] && grep -q '^bmrm: -model -: - is standard input only' log && [ ! -e ./- ]
verdict $? "an output named - is refused"

# --- compressed contents under any name, and from a pipe --------------------------------------------------------------------------
for pack in gzip xz bzip2 zstd; do
  if ! command -v $pack >/dev/null; then
    skip "compressed by $pack" "$pack is not installed"
    continue
  fi
  $pack -c <plain >packed.txt
  for n in 1 3; do
    train $n packed.txt
    accepted "compressed by $pack" $n
    train $n - <packed.txt
    accepted "compressed by $pack, standard input" $n
    cat packed.txt >fifo &
    train $n fifo
    accepted "compressed by $pack, a named pipe" $n
    wait
  done
  head -c $(($(wc -c <packed.txt) - 6)) packed.txt >cut
  refused "truncated, $pack" cut "cut: $pack cannot decompress the file, which may be damaged or truncated" 1 3
  $pack -c </dev/null >nothing
  refused "an empty file, $pack" nothing "nothing: the file holds no examples" 1
done
cp plain plain.gz
train 1 plain.gz
accepted "text under the name of a compressed file" 1
gzip -c <plain >packed.txt
( # MPI programs need more of the PATH than the decompressors
  mkdir bin
  for tool in "${BMRM}"; do ln -s "$tool" bin/; done
  rm -f model
  OMPI_MCA_plm=^rsh OMPI_MCA_ras=^slurm PATH=$tmp/bin "$BMRM" -gpucsr_device host -f packed.txt -mat_type aij -model model >log 2>&1
  [ $? -ne 0 ] && grep -qF 'packed.txt: the file is compressed and the program gzip that decompresses it cannot be started' log
)
verdict $? "a missing decompressor is named"
awk 'BEGIN { srand(1); for (i = 0; i < 60000; i++) printf "%d 1:%.6f %d:%.6f\n", i % 2, rand(), 2 + int(rand() * 50), rand() }' >large
gzip -c <large >large.gz
for n in 1 3; do
  train $n large && cp model expected && for try in 1 2 3; do # Open MPI 4.1's mpiexec crashes now and then in orte_iof_hnp_read_local_handler()
    cat large.gz | train $n -
    [ $? -ne 139 ] && break
  done && cmp -s model expected
  verdict $? "a compressed pipe of a megabyte, $n rank(s)"
done
sed '30000s/1:/1:x/' large | gzip -c | train 1 -
grep -qF "standard input:30000:5: expected a finite number" log
verdict $? "a bad line in a compressed pipe"

# --- how text is encoded ----------------------------------------------------------------------------------------------------------
{ printf '\357\273\277'; cat plain; } >mark
sed 's/$/\r/' plain >crlf
head -c -1 plain >unended
{ printf '\357\273\277'; sed 's/$/\r/' plain | head -c -2; } | gzip -c >all
for n in 1 3; do
  train $n mark
  accepted "a byte-order mark" $n
  train $n crlf
  accepted "carriage returns" $n
  train $n unended
  accepted "no newline at the end" $n
  train $n all
  accepted "all of that, compressed" $n
done
{ printf '\357\273\277'; printf 'x 1:1\n'; } >bad
refused "a bad line after a byte-order mark" bad "bad:1:1: expected a finite number as label, got 'x'"
iconv -f UTF-8 -t UTF-16 plain >utf16 2>/dev/null || printf '\377\376' >utf16
refused "UTF-16" utf16 "utf16: the text is in UTF-16 or UTF-32: save it as UTF-8"
printf '1 1:1\n2 1:2\n\0001 1:1\n' >nul
refused "a NUL byte" nul "nul:3: found a NUL byte"
{ cat large; printf '1 1:1\0\n'; } >nul
refused "a NUL byte at the end of a large file" nul "nul:60001: found a NUL byte"
: >empty
refused "an empty file" empty "empty: the file holds no examples"
printf '\357\273\277' >empty
refused "a file of a byte-order mark alone" empty "empty: the file holds no examples"
mkdir folder
refused "a directory" folder "folder: Is a directory"
refused "a missing file" nowhere "nowhere: No such file or directory"
refused "/dev/null" /dev/null "/dev/null: the file holds no examples"
refused "endless zeros" /dev/zero "/dev/zero:1: found a NUL byte"
train 1 plain && timeout 20 "$MPIEXEC" -n 1 "$BMRM" -gpucsr_device host -f plain -mat_type aij -save_binary binary >log 2>&1
cat binary 2>/dev/null | train 1 -
grep -qF "standard input: PETSc's binary format, where text is expected" log
verdict $? "a binary matrix from a pipe is refused"
