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
check "train takes the table" "$BUILD/bin/train" --trees 6 --depth 2 --model "$work/model_host.h" --predictions "$work/predictions.csv" "$work/once.csv"
check "the model names its table's machine" grep -q '"host", 1, ' "$work/model_host.h"

# --- tables with a known answer ------------------------------------------------------------------------------------------------------
# a takes 2 us and 0.5 for each row of a multiprocessor, b 4 us and 0.05 for each nonzero.  c takes 0.7 of the time of a, on matrices with few values, and refuses all
# others.  d is never better than a.  Families have sizes of their own: who has not seen a family must know the laws to choose for it.
features=$(sed -n 's/^FEATURE(\([a-z0-9]*\),.*/\1/p' src/mat/impls/gpucsr/selector/features.def)
table() {
  echo "# Test GPU, 10 multiprocessors, cache 1000 bytes, copy rate 1e9 bytes/s"
  awk -v list="$features" 'BEGIN {
    split(list, name, /[ \n]+/)
    printf "matrix,family,kind,side,m,n,nnz"
    for (f = 1; f in name; f++) if (name[f] != "") printf ",f:%s", name[f]
    print ",f:noise,chosen,upload,transpose,selection,b:rows,bytes:rows,traffic:rows,b:few,bytes:few,traffic:few,k:a:rows,c:a:rows,k:b:rows,c:b:rows,k:c:few,c:c:few,k:d:rows,c:d:rows"
    for (i = 0; i < 240; i++) {
      mean = 1 + i % 20; few = int(i / 20) % 3 == 0; rows = 4 * 3 ^ (i % 7); a = 2 + 0.5 * rows; b = 4 + 0.05 * mean * rows
      printf "m%d,family%d,kind%d,A,100,100,1000", i, i % 7, i % 3
      for (f = 1; f in name; f++)
        if (name[f] != "") printf ",%g", name[f] == "mean" ? mean : name[f] == "rowsperunit" ? rows : name[f] == "nnzperunit" ? rows * mean : name[f] == "values" ? (few ? 1 : 257) : 0
      printf ",%d,a,1,1,20,5,,800,%s,%g,%g,%g,%g,%s,%g,%g\n", i * 7919 % 101, few ? "9,8,100" : ",,", a, a, b, b, few ? 0.7 * a "," 0.7 * a : ",", 1.2 * a, 1.2 * a
    }
  }'
}
table >"$work/known.csv"
"$BUILD/bin/train" --model "$work/model_gpu.h" --source "a test at commit 0" "$work/known.csv" >"$work/known.txt" 2>"$log"
row() { grep -qE "$1" "$work/known.txt"; }
check "the best set of three loses nothing, and d is not in it" row '^\| 3 \| 0\.0 % \| 0\.0 \| 0\.0 \| 0\.0 \| 0\.0 \| a, b, c \|$'
check "d is no candidate, the others are" row '^The model: 3 candidates'
check "the laws alone know every size they have not seen, but not who refuses" row '^\| families held out, laws alone \| 1\.0000 \| 1\.000 \| 0\.00 % \| 0\.00 % \| 0\.0 % \| 0\.529 \| 0 \|$'
check "the trees learn who refuses" row '^\| families held out \| (0\.999[0-9]|1\.0000) \| .* \| 0\.000 \| 48 \|$'
check "no more trees are taken than are needed" row '; 12 trees of depth at most 2, '
check "laws are found" grep -qF '{[GP_TERM_launch] = 2, [GP_TERM_rows] = 0.5}, /* a */' "$work/model_gpu.h"
check "each of its own" grep -qF '{[GP_TERM_launch] = 4, [GP_TERM_nonzeros] = 0.05}, /* b */' "$work/model_gpu.h"
check "thresholds are between the cases" grep -qE '\{GP_SEL_values, [0-9]+, [0-9]+, 129\}' "$work/model_gpu.h"
check "the header names its table" grep -q 'a test at commit 0' "$work/model_gpu.h"
"$BUILD/bin/train" --model "$work/model_again.h" --source "a test at commit 0" "$work/known.csv" >/dev/null 2>"$log"
check "the same table makes the same model" cmp "$work/model_gpu.h" "$work/model_again.h"
"$BUILD/bin/train" --exclude c "$work/known.csv" >"$work/known.txt" 2>"$log"
check "a kernel can be left out" bash -c "! grep -q ' c ' '$work/known.txt'"
if "$BUILD/bin/train" "$none" >"$log" 2>&1; then not_ok "a table that is not there is refused"; else check "a table that is not there is refused in words" grep -q 'cannot read' "$log"; fi
sed 's/f:mean/f:median/' "$work/known.csv" >"$work/wrong.csv"
if "$BUILD/bin/train" "$work/wrong.csv" >"$log" 2>&1; then not_ok "a table without a feature is refused"; else check "a table without a feature is refused by the feature's name" grep -q 'feature mean' "$log"; fi
