#!/usr/bin/env bash
# The way from the corpus to a model: the corpus's members, the experiment on the host runtime, train on tables with a known answer.
set -u
. "$(dirname "$0")/../env.sh"
log=$BUILD/tests/train.log
work=$BUILD/tests/train
mkdir -p "$work"
bin=${BUILD#"$ROOT"/}/bin # the makefile names what lies below it by relative paths
if make -s -C "$ROOT" -j"${JOBS:-$CORES}" "$bin/bench_corpus" "$bin/train" >"$log" 2>&1; then ok "bench_corpus and train build"; else
  not_ok "bench_corpus and train build" "$log"
  exit 1
fi

# --- the corpus: at least 700 members, the same in every run, products right -------------------------------------------------------
none=$work/nothing
members=$("$BUILD/bin/bench_corpus" --list --data "$none" | tee "$work/list" | wc -l)
check "the corpus has 700 members without any data ($members)" test "$members" -ge 700
check "no two members have one name" test -z "$(cut -d, -f1 "$work/list" | sort | uniq -d)"
experiment() { "$BUILD/bin/bench_corpus" --device host --threads 1 --scale 0.002 --data "$none" --shard 1/12 --kernels csrsplit,csrscalar; }
if experiment >"$work/once.csv" 2>"$log" && experiment >"$work/again.csv" 2>>"$log"; then ok "the experiment runs, every product is right"; else
  not_ok "the experiment runs, every product is right" "$log"
fi
features() { grep -v '^#' "$1" | cut -d, -f1-38 | sort; }
check "the same members are the same matrices" cmp <(features "$work/once.csv") <(features "$work/again.csv")
check "train takes the table" "$BUILD/bin/train" --model "$work/model_host.h" --predictions "$work/predictions.csv" "$work/once.csv"
check "the model names its table's machine" grep -q '"host", 1, ' "$work/model_host.h"

# --- tables with a known answer ------------------------------------------------------------------------------------------------------
# fast below ten a row: a; from ten on: b.  c is the best of all, on matrices with few values, and refuses all others.  d is never better than a.
table() {
  echo "# Test GPU, 10 multiprocessors, cache 1000 bytes, copy rate 1e9 bytes/s"
  echo "matrix,family,kind,side,m,n,nnz,f:mean,f:values,f:noise,chosen,upload,transpose,selection,b:rows,bytes:rows,traffic:rows,b:few,bytes:few,traffic:few,k:a:rows,c:a:rows,k:b:rows,c:b:rows,k:c:few,c:c:few,k:d:rows,c:d:rows"
  awk 'BEGIN {
    for (i = 0; i < 240; i++) {
      mean = 1 + i % 20; few = int(i / 20) % 3 == 0; a = mean < 9.5 ? 10 : 40; b = mean < 9.5 ? 30 : 10
      printf "m%d,family%d,kind%d,A,100,100,1000,%d,%d,%d,a,1,1,20,5,,800,%s,%d,%d,%s,%d,%d,%d,%d\n", i, i % 7, i % 3, mean, few ? 2 : 257, i * 7919 % 101, few ? "9,8,100" : ",,", a, a, b, b, few ? "8,8" : ",", 12 * a / 10, 12 * a / 10, 0, 0
    }
  }' | sed 's/,0,0$//'
}
table >"$work/known.csv"
"$BUILD/bin/train" --model "$work/model_gpu.h" --source "a test at commit 0" "$work/known.csv" >"$work/known.txt" 2>"$log"
row() { grep -qE "$1" "$work/known.txt"; }
check "the best set of three loses nothing, and d is not in it" row '^\| 3 \| 0\.0 % \| 0\.0 \| 0\.0 \| 0\.0 \| 0\.0 \| a, b, c \|$'
check "the best kernel alone is b, whose mean loss is told" row '^\| 1 \| 34\.7 % \|.*\| b \|$'
check "the tree finds all three, families held out" row '^\| families held out \| 1\.0000 \| 1\.000 \| 0\.0 % \| 0\.000 \|$'
check "its thresholds are between the cases" grep -qE '\{GP_SEL_mean, [0-9]+, [0-9]+, 9\.5\}' "$work/model_gpu.h"
check "and those of the values" grep -qE '\{GP_SEL_values, [0-9]+, [0-9]+, 129\.5\}' "$work/model_gpu.h"
check "leaves name kernels, best first" grep -q '{GP_SPMV_c, ' "$work/model_gpu.h"
check "the header names its table" grep -q 'a test at commit 0' "$work/model_gpu.h"
"$BUILD/bin/train" --exclude c "$work/known.csv" >"$work/known.txt" 2>"$log"
check "a kernel can be left out" bash -c "! grep -q ' c ' '$work/known.txt'"
if "$BUILD/bin/train" "$none" >"$log" 2>&1; then not_ok "a table that is not there is refused"; else check "a table that is not there is refused in words" grep -q 'cannot read' "$log"; fi
