#!/usr/bin/env bash
# From the corpus to a cost model: members of the corpus, bench_corpus on the host backend, the program train on tables with a known result.
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

# --- the corpus: at least 700 members, the same in every run, correct products -------------------------------------------------------
none=$work/nothing
members=$("$BUILD/bin/bench_corpus" --list --data "$none" | tee "$work/list" | wc -l)
check "the corpus has 700 members without any data ($members)" test "$members" -ge 700
check "no two members have one name" test -z "$(cut -d, -f1 "$work/list" | sort | uniq -d)"
experiment() { "$BUILD/bin/bench_corpus" --device host --threads 1 --scale 0.002 --data "$none" --shard 1/12 --kernels csrsplit,csrscalar; }
if experiment >"$work/once.csv" 2>"$log" && experiment >"$work/again.csv" 2>>"$log"; then ok "the experiment runs, every product is right"; else
  not_ok "the experiment runs, every product is right" "$log"
fi
features() { grep -v '^#' "$1" | cut -d, -f1-$((7 + $(grep -c '^FEATURE(' src/mat/impls/gpucsr/selector/features.def))) | sort; }
check "the same members are the same matrices" cmp <(features "$work/once.csv") <(features "$work/again.csv")
check "train takes the table" "$BUILD/bin/train" --model "$work/model_host.h" --predictions "$work/predictions.csv" "$work/once.csv"
check "the model names its table's machine" grep -q '"host", 1, ' "$work/model_host.h"

# --- tables with a known result ------------------------------------------------------------------------------------------------------
# a takes 2 us and 0.5 for each row of a multiprocessor, b 4 us and 0.05 for each nonzero, added as the model adds them.  c takes 0.7 of the time of a, on matrices with few values, and refuses all
# others.  d is never better than a.  Families have sizes of their own: a model that has not seen a family must know the coefficients to select for it.
features=$(sed -n 's/^FEATURE(\([a-z0-9]*\),.*/\1/p' src/mat/impls/gpucsr/selector/features.def)
table() {
  echo "# Test GPU, 10 multiprocessors, cache 1000 bytes, copy rate 1e9 bytes/s"
  awk -v list="$features" -v b0="$1" -v b1="$2" -v power="$3" 'BEGIN {
    split(list, name, /[ \n]+/)
    printf "matrix,family,kind,side,m,n,nnz"
    for (f = 1; f in name; f++) if (name[f] != "") printf ",f:%s", name[f]
    print ",f:noise,chosen,upload,transpose,selection,b:rows,bytes:rows,traffic:rows,b:few,bytes:few,traffic:few,k:a:rows,c:a:rows,k:b:rows,c:b:rows,k:c:few,c:c:few,k:d:rows,c:d:rows"
    for (i = 0; i < 240; i++) {
      mean = 1 + i % 20; few = int(i / 20) % 3 == 0; rows = 4 * 3 ^ (i % 7); a = (2 ^ 0.75 + (0.5 * rows) ^ 0.75) ^ (4 / 3); b = (b0 ^ 0.75 + (b1 * (mean * rows) ^ power) ^ 0.75) ^ (4 / 3)
      printf "m%d,family%d,kind%d,A,100,100,1000", i, i % 7, i % 3
      for (f = 1; f in name; f++)
        if (name[f] != "") printf ",%g", name[f] == "mean" ? mean : name[f] == "rowsperunit" ? rows : name[f] == "nnzperunit" ? rows * mean : name[f] == "values" ? (few ? 1 : 257) : 0
      printf ",%d,a,1,1,20,5,,800,%s,%g,%g,%g,%g,%s,%g,%g\n", i * 7919 % 101, few ? "9,8,100" : ",,", a, a, b, b, few ? 0.7 * a "," 0.7 * a : ",", 1.2 * a, 1.2 * a
    }
  }'
}
table 4 0.05 1 >"$work/known.csv"
"$BUILD/bin/train" --model "$work/model_gpu.h" --source "a test at commit 0" "$work/known.csv" >"$work/known.txt" 2>"$log"
row() { grep -qE "$1" "$work/known.txt"; }
check "the best set of three loses nothing, and d is not in it" row '^\| 3 \| 0\.0 % \| 0\.0 \| 0\.0 \| 0\.0 \| 0\.0 \| a, b, c \|$'
check "d is no candidate, the others are" row '^The model: 3 candidates'
check "the coefficients predict every size that was left out, and what its format refuses" row '^\| leave-one-family-out, each kernel fitted separately \| 1\.0000 \| 1\.000 \| 0\.00 % \| 0\.00 % \| 0\.0 % \| 0\.000 \|$'
check "fitted jointly they still do, nearly" row '^\| leave-one-family-out \| (0\.99[0-9]*|1\.0000) \| .* \| 0\.000 \|$'
table 1 0.02 1.15 >"$work/bent.csv" # b takes what no sum of terms says
"$BUILD/bin/train" "$work/bent.csv" >"$work/bent.txt" 2>"$log"
check "a joint fit loses less if the terms are wrong" awk -F ' \\| ' '/out, each kernel fitted separately/ { alone = 1 - $2 } /^\| leave-one-family-out \| 0[.]/ { together = 1 - $2 } END { exit !(together < alone / 2) }' "$work/bent.txt"
check "a limit is found" grep -qF '[GP_TERM_manyvalues] = GP_SEL_NEVER}, /* c */' "$work/model_gpu.h"
check "and no other" test "$(grep -c GP_SEL_NEVER "$work/model_gpu.h")" = 1
check "the header names its table" grep -q 'a test at commit 0' "$work/model_gpu.h"
"$BUILD/bin/train" --model "$work/model_again.h" --source "a test at commit 0" "$work/known.csv" >/dev/null 2>"$log"
check "the same table makes the same model" cmp "$work/model_gpu.h" "$work/model_again.h"
"$BUILD/bin/train" --exclude c "$work/known.csv" >"$work/known.txt" 2>"$log"
check "a kernel can be left out" bash -c "! grep -q ' c ' '$work/known.txt'"
if "$BUILD/bin/train" "$none" >"$log" 2>&1; then not_ok "a table that is not there is refused"; else check "a table that is not there is refused in words" grep -q 'cannot read' "$log"; fi
sed 's/f:mean/f:median/' "$work/known.csv" >"$work/wrong.csv"
if "$BUILD/bin/train" "$work/wrong.csv" >"$log" 2>&1; then not_ok "a table without a feature is refused"; else check "a table without a feature is refused by the feature's name" grep -q 'feature mean' "$log"; fi

# --- tables of the pages: ratios whose means are known, written between the marks --------------------------------------------------------
pages=$work/pages
mkdir -p "$pages"
printf 'before\n<!-- figures: families -->\nold\n<!-- end of figures -->\nbetween\n<!-- figures: goals -->\n<!-- end of figures -->\n<!-- figures: selector -->\n<!-- end of figures -->\nafter\n' >"$pages/page.md"
printf 'before\n<!-- figures: families -->\n<!-- end of figures -->\nafter\n' >"$pages/readme.md"
cat >"$pages/predictions.csv" <<EOF
matrix,family,kind,side,n,nnz,xcache,best_us,seen,seen_us,held,held_us,mixed_us,double_us,roofline
lp-wide-01,lp-wide,LP,A,1000,2e5,0.1,10,a,10,b,10,20,20,0.5
lp-wide-04,lp-wide,LP,A,1000,2e5,0.1,10,a,10,b,10,0,0,0.5
lp-wide-02,lp-wide,LP,A,1000,2e5,0.1,10,a,10,b,20,10,30,0.5
lp-wide-03,lp-wide,LP,At,1000,2e4,0.1,10,a,10,b,20,10,30,0.5
rmat-01,rmat,power-law,A,20000,1e6,2,10,a,10,b,10,30,40,0.5
stencil5-var-01,stencil5-var,stencil-variable,A,1000,5e6,0.1,10,a,10,b,10,16,25,0.81
EOF
cat >"$pages/spmv.csv" <<EOF
# PETSc
matrix,type,vector,operation,us,first_us,ratio,norm,kind,m,n,nnz,cold_us
lp-wide-01,aijcusparse,cuda,MatMultTranspose,120,1,1,1,LP,100,1000,200000,0
lp-wide-01,aijcusparse:explicit,cuda,MatMultTranspose,15,1,1,1,LP,100,1000,200000,0
lp-wide-01,gpucsr,cuda,MatMultTranspose,10,1,1,1,LP,100,1000,200000,0
tiny-01,aijcusparse,cuda,MatMult,6,1,1,1,tiny,100,100,2000,0
tiny-01,gpucsr,cuda,MatMult,3,1,1,1,tiny,100,100,2000,0
EOF
tables() { tests/bench/tables.py "$pages/predictions.csv" "$work/known.txt" "$@"; }
"$BUILD/bin/train" --predictions "$work/known-predictions.csv" "$work/known.csv" >"$work/known.txt" 2>"$log"
check "train's predictions have the columns that the tables ask for" cmp <(head -1 "$work/known-predictions.csv") <(head -1 "$pages/predictions.csv")
check "tables are made" tables "$pages/page.md" "$pages/page.md" "$pages/readme.md" "$pages/spmv.csv"
has() { grep -qF "$1" "$pages/page.md"; }
check "a mean is geometric, and of those that were measured" has "| LP, A x | 2 | **1.73** (1.3) | 1.00 (1.1) | 1.41 | -, - | - |"
check "tiny matrices are left out; PETSc's transposes are there" has "| LP, A' y | 0 | - | - | - | -, - | **12.0** (10) · explicit 1.50, 1 |"
check "matrices whose x exceeds the cache have a row of their own" has "| power law, x beyond it | 1 | **4.00** (1.4) | **3.00** (1.3) | 3.00 | 4.00, 3.00 | - |"
check "tiny matrices have their row" has "**2.00** (1.5), 1; 3.0 µs a product in the median, 3.0 at most (4) |"
check "who is slower than cuSPARSE is counted" has "| 2, 0, 0 | 0 |"
check "the analysis has the share of the copy rate" has "worst of 1 | 0.81, 0.81 | 0.85 |"
check "train's own tables are there" has "| leave-one-family-out | "
check "what stands around stays" cmp <(grep -xE 'before|between|after|old' "$pages/page.md") <(printf 'before\nbetween\nafter\n')
cp "$pages/page.md" "$pages/once.md"
tables "$pages/page.md" "$pages/page.md" "$pages/readme.md" "$pages/spmv.csv"
check "made again they are the same" cmp "$pages/once.md" "$pages/page.md"
if tables "$pages/readme.md" "$pages/readme.md" "$pages/readme.md" >"$log" 2>&1; then not_ok "a page without a place is refused"; else check "a page without a place is refused by the table's name" grep -q 'no place for the table goals' "$log"; fi
