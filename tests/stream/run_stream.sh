#!/usr/bin/env bash
# The programs with a streamed matrix compute what they compute with the matrix on the device: bit for bit if the kernels are the same.  Prints TAP.
set -u
. "$(dirname "$0")/../env.sh"
bin=$BUILD/bin
for program in bmrm pagerank; do [ -x "$bin/$program" ] || { not_ok "$program is built ($bin/$program)"; exit 1; }; done
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
data=$ROOT/solvers/bmrm/data/breast-cancer.libsvm
awk 'BEGIN { srand(7); for (i = 0; i < 400; i++) { printf "%d", 1 + i % 4; for (j = 1 + i % 4; j <= 120; j += 1 + int(6 * rand())) printf " %d:%.3f", j, rand() * (j % 4 == i % 4 ? 2 : 1); print "" } }' >classes.libsvm
printf '# topics\n1 2 3\n4\n5:2 7\n' >topics
streamed=(-gpucsr_stream always -gpucsr_stream_chunk 16384)

run() { # run RANKS RESULT PROGRAM ARGUMENTS: the output is in log, the report in RESULT.json
  local n=$1 result=$2 program=$3 save=-model
  shift 3
  [ "$program" = bmrm ] || save=-ranks_binary
  rm -f "$result" "$result.json"
  timeout 120 "$MPIEXEC" -n "$n" "$bin/$program" -gpucsr_device "$GPUCSR_DEVICE" -gpucsr_notice 0 $save "$result" -report "$result.json" "$@" >log 2>&1
}
member() { sed -n 's/^ *"'"$2"'": *\([^,]*\),*$/\1/p' "$1.json"; } # the value of a member of a report
told() { grep -q 'streamed from host memory: [1-9][0-9]* chunks' log && [ "$(member "$1" mat_chunks)" -gt 1 ] && [ "$(member "$1" mat_chunk_bytes)" -gt 0 ]; }
same() { cmp "$1" "$2" >>log 2>&1; }

# equal NAME "RANKS ..." PROGRAM ARGUMENTS: the bits of a run whose matrix is not streamed, and of runs with nothing, half and all of the chunks on the device
equal() {
  local name=$1 ranks=$2 program=$3 n
  shift 3
  for n in $ranks; do
    if run "$n" whole "$program" -gpucsr_kernel csrvector8 "$@" && ! grep -q 'streamed' log && [ "$(member whole mat_chunks)" = 0 ] &&
      run "$n" none "$program" -gpucsr_kernel csrvector8 "${streamed[@]}" -gpucsr_stream_resident 0 "$@" && told none && [ "$(member none mat_resident_bytes)" = 0 ] && same whole none &&
      run "$n" half "$program" -gpucsr_kernel csrvector8 "${streamed[@]}" -gpucsr_stream_resident $(($(member none mat_chunk_bytes) / (2 * n))) "$@" && told half && same whole half &&
      run "$n" all "$program" -gpucsr_kernel csrvector8 "${streamed[@]}" "$@" && told all && same whole all; then ok "$name, $n rank(s)"; else not_ok "$name, $n rank(s)" log; fi
  done
}

equal "bmrm" "1 2 4" bmrm -f "$data" -bmrm_lambda 1e-2
equal "bmrm, vectors on the device" "1" bmrm -f "$data" -bmrm_lambda 1e-2 -bmrm_loss logistic -mat_gpucsr_vec_type gpu
equal "bmrm, rocarea" "2" bmrm -f "$data" -bmrm_lambda 1e-2 -bmrm_loss rocarea
equal "pagerank, power" "1 2 4" pagerank -rmat 11,16 -method power -mat_gpucsr_vec_type gpu
equal "pagerank, three row blocks" "1 2" pagerank -rmat 12,16 -method gauss_seidel -blocks 3 -mat_gpucsr_vec_type gpu
equal "pagerank, inner-outer iteration" "2" pagerank -rmat 11,16 -method inner_outer
equal "pagerank, GMRES" "1" pagerank -rmat 11,16 -method ksp

# products with several vectors use another kernel than those of a matrix that is not streamed, but what is resident changes no bit
for case in "bmrm, several classes:bmrm:-f classes.libsvm -bmrm_loss softmax -bmrm_lambda 1e-2 -bmrm_eps 1e-2" "pagerank, several personalisations:pagerank:-rmat 11,16 -personalize topics -method power"; do
  IFS=: read -r name program arguments <<<"$case"
  for n in 1 2; do
    # shellcheck disable=SC2086 # the arguments are words
    if run $n none "$program" "${streamed[@]}" -gpucsr_stream_resident 0 $arguments && told none && run $n half "$program" "${streamed[@]}" -gpucsr_stream_resident 40000 $arguments && same none half &&
      run $n whole "$program" $arguments && [ "$(member none reason)" = "$(member whole reason)" ] && [ "$(member none iterations)" = "$(member whole iterations)" ]; then ok "$name, $n rank(s)"; else not_ok "$name, $n rank(s)" log; fi
  done
done

[ "$GPUCSR_DEVICE" = host ] || exit 0 # the bounds below are those of the host backend

# the stages of streaming in -log_view
if run 1 whole bmrm -f "$data" -bmrm_lambda 1e-2 "${streamed[@]}" -gpucsr_stream_resident 0 -log_view && awk '/^GPUCSR(Encode|DecodeMult)/ && $2 > 0 && $4 > 0 { found++ } END { exit found != 2 }' log; then ok "the stages of streaming are logged"; else not_ok "the stages of streaming are logged" log; fi

# the matrix is streamed because it does not fit
if run 1 whole bmrm -f "$data" -bmrm_lambda 1e-2 -gpucsr_kernel csrvector8 && run 1 auto bmrm -f "$data" -bmrm_lambda 1e-2 -gpucsr_kernel csrvector8 -gpucsr_device_memory 150000 -gpucsr_stream_chunk 4096 -mat_gpucsr_vec_type standard && told auto && same whole auto; then
  ok "bmrm streams a matrix that does not fit, and says so"
else not_ok "bmrm streams a matrix that does not fit, and says so" log; fi
if run 1 whole pagerank -rmat 11,16 -gpucsr_kernel csrvector8 && run 1 auto pagerank -rmat 11,16 -gpucsr_kernel csrvector8 -gpucsr_device_memory 100000 -gpucsr_stream_chunk 4096 -mat_gpucsr_vec_type standard && told auto && same whole auto; then
  ok "pagerank streams a matrix that does not fit, and says so"
else not_ok "pagerank streams a matrix that does not fit, and says so" log; fi
if run 1 whole bmrm -f "$data" -bmrm_lambda 1e-2 -gpucsr_device_memory 150000 -gpucsr_stream never -mat_gpucsr_vec_type standard; then not_ok "-gpucsr_stream never: a matrix that does not fit is an error" log; else
  if grep -q 'out of device memory' log; then ok "-gpucsr_stream never: a matrix that does not fit is an error"; else not_ok "-gpucsr_stream never: a matrix that does not fit is an error" log; fi
fi
