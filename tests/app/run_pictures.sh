#!/usr/bin/env bash
# Pictures of the programs in all formats, checked by their structure (tests/app/picture.py).  Prints TAP.
set -u
. "$(dirname "$0")/../env.sh"
bin=$BUILD/bin
python=${PYTHON:-/usr/bin/python3}
command -v "$python" >/dev/null || { skip "pictures" "there is no $python"; exit 0; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
check=$ROOT/tests/app/picture.py
cancer=$ROOT/solvers/bmrm/data/breast-cancer.libsvm
cd "$tmp" || exit 1
limit=unlimited # in kB, the size of a file
run() { # run PROGRAM ARGUMENTS: output in $tmp/log, the code is returned
  local program=$1
  shift
  (ulimit -f "$limit" && exec timeout 60 "$bin/$program" -gpucsr_device "$GPUCSR_DEVICE" "$@") 2>&1 | cat >log
  return "${PIPESTATUS[0]}"
}
verdict() {
  local rc=$?
  if [ $rc -eq 0 ]; then ok "pictures: $1"; else not_ok "pictures: $1" log; fi
}
checked() { "$python" "$check" "$@" >>log 2>&1; } # checked FILE TEXTS
if LC_ALL=C "$bin/pagerank" -gpucsr_device host -rmat 3,2 -picture have.pdf >log 2>&1; then cairo=1; else cairo=0; fi
[ $cairo = 1 ] || grep -q 'picture have.pdf: .*libcairo.so.2 cannot be loaded; install Cairo' log
verdict "Cairo is found, or an error says how to install it"

# --- data ---------------------------------------------------------------------------------------------------------------------------
cp "$ROOT/tests/app/data/cities.csv" .
awk 'BEGIN { srand(4); print "\"\",a,b,c,d"; for (i = 0; i < 90; i++) printf "%s name %d,%g,%g,%g,%g\n", i % 3 ? "A" : "Quite a long", i, rand(), rand(), rand(), rand() }' >crowd.csv
awk 'BEGIN { for (i = 0; i < 90; i++) print substr("Z\303\274rich,a group whose name is long,three,four,five,six,seven,eight,nine,ten,eleven,twelve", 1) }' | awk -F, '{ print $(NR % 12 + 1) }' >groups
cities=(Atlanta Chicago Denver Houston "Los Angeles" Miami "New York" "San Francisco" Seattle "Washington, DC")
case $cairo in 1) formats=(own.svg svg pdf png) ;; *) formats=(own.svg) ;; esac

# --- every picture in every format ----------------------------------------------------------------------------------------------------
for format in "${formats[@]}"; do
  unset GPUCSR_CAIRO
  [ "$format" != own.svg ] || export GPUCSR_CAIRO=none
  run smacof -f cities.csv -map map.$format -shepard shepard.$format && checked map.$format "Map of 10 points" "stress-1 0.00169" "${cities[@]}" && checked shepard.$format Shepard dissimilarity "distance, disparity" 1000 2000
  verdict "a map with names, and its Shepard diagram, $format"
  case $format in svg | png) continue ;; esac # the layout does not depend on the format
  run smacof -f cities.csv -smacof_dim 3 -map map3.$format && checked map3.$format "in 3 dimensions" "dimension 3" && run smacof -f cities.csv -smacof_dim 1 -map map1.$format && checked map1.$format "in 1 dimension" "dimension 1"
  verdict "maps of three dimensions and of one, $format"
  run smacof -features crowd.csv -map crowd.$format && checked crowd.$format "Map of 90 points" "For lack of space" && run smacof -features crowd.csv -labels groups -smacof_dim 4 -map groups.$format && checked groups.$format "first 3 of 4 dimensions" twelve "a group whose name is long"
  verdict "a crowd of names, and groups with a legend, $format"
  run kmeans -f "$cancer" -kmeans_clusters 12 -silhouette 100 -picture clusters.$format && checked clusters.$format "427 points in 12 clusters" inertia silhouette "of variance" centroid
  verdict "clusters, $format"
  run bmrm -f "$cancer" -mat_type aij -bmrm_lambda 1e-3 -picture training.$format && checked training.$format "hinge loss, lambda 0.001" "gap" "training accuracy 98." "lower bound" &&
    run pagerank -rmat 10,8 -picture ranks.$format && checked ranks.$format "PageRank of 1024 nodes" "damping 0.85, error bound" place
  verdict "a training and the distribution of ranks, $format"
done

# --- equal bytes, devices, failures ---------------------------------------------------------------------------------------------------
unset GPUCSR_CAIRO
for format in "${formats[@]:1}"; do
  run kmeans -f "$cancer" -kmeans_clusters 3 -picture one.$format && "$MPIEXEC" -n 2 "$bin/kmeans" -gpucsr_device "$GPUCSR_DEVICE" -f "$cancer" -kmeans_clusters 3 -picture two.$format >>log 2>&1 && cmp one.$format two.$format >>log 2>&1 && checked two.$format "in 3 clusters"
  verdict "the same bytes on one and two ranks, $format"
  echo old >full.$format && limit=4 && ! run smacof -f cities.csv -map full.$format && grep -q "full.$format: File too large; the temporary file was removed" log && [ "$(cat full.$format)" = old ] && [ -z "$(find . -name '.gpucsr*')" ]
  verdict "a full disk, $format"
  limit=unlimited
done
if [ $cairo = 1 ]; then
  run smacof -f cities.csv -map >(cat >pipe.pdf) && sleep 0.2 && [ -s pipe.pdf ]
  verdict "a picture into a pipe"
fi
checked "$ROOT/docs/kmeans.svg" "427 points in 2 clusters" && checked "$ROOT/docs/smacof.svg" "${cities[@]}"
verdict "those of the documentation"
if "$python" -c 'import matplotlib' 2>/dev/null && command -v pdftotext >/dev/null; then
  cp "$ROOT/tests/bench/results/2026-11-22-h200/corpus/spmv-families.csv" families.csv
  "$python" "$ROOT/tests/bench/plot.py" families.csv figure.pdf >log 2>&1 && checked figure.pdf MatMultTranspose FEM-unordered "more is better" &&
    "$python" "$ROOT/tests/bench/bmrm_peers.py" --figure "$ROOT/tests/bench/results/2026-11-22-host/bmrm_peers.csv" peers.pdf >>log 2>&1 && checked peers.pdf liblinear "27.1 s"
  verdict "figures from recorded tables"
else
  skip "pictures: figures from recorded tables" "matplotlib or pdftotext is missing"
fi
echo "no library" >broken.so
refused() { # refused MESSAGE PROGRAM ARGUMENTS: exit code 2 before the computation, with this line
  local message=$1 rc
  shift
  run "$@"
  rc=$?
  [ $rc -eq 2 ] && [ "$(wc -l <log)" -eq 1 ] && grep -qF -- "$message" log && ! ls never* >/dev/null 2>&1
}
for p in "bmrm -f $cancer -mat_type aij -picture" "kmeans -f cities.csv -kmeans_clusters 2 -picture" "pagerank -rmat 3,2 -picture" "smacof -f cities.csv -map" "smacof -f cities.csv -shepard"; do
  # shellcheck disable=SC2086 # the arguments are words
  GPUCSR_CAIRO=none refused "picture never.pdf: this format needs the library Cairo, and GPUCSR_CAIRO=none disables it; install Cairo (Debian: libcairo2), or use the ending .svg" $p never.pdf &&
    GPUCSR_CAIRO=./broken.so refused "picture never.png: this format needs the library Cairo, and ./broken.so cannot be loaded" $p never.png && refused "picture never.eps: the format .eps is not supported; use the ending .svg, .pdf or .png" $p never.eps
  verdict "formats without a library: ${p%% *} ${p##* }"
done
if [ $cairo = 1 ]; then
  printf '0,1\n1,0\n' >two.csv && printf '\346\235\261\344\272\254\nOsaka\n' >names
  run smacof -f two.csv -labels names -map tokyo.pdf && { grep -q "warning: picture tokyo.pdf: the font lacks letters" log || ! fc-match "DejaVu Sans" | grep -q DejaVu; } && printf 'Z\303\274rich\nOsa\377ka\001\n' >names && run smacof -f two.csv -labels names -map zurich.pdf && ! grep -q "font lacks" log && checked zurich.pdf Zürich Osa
  verdict "letters that the font lacks, bytes that are not UTF-8"
fi
lacking=$(find /lib /usr/lib -name 'libz.so.1' 2>/dev/null | head -n 1)
if [ -n "$lacking" ]; then
  GPUCSR_CAIRO=$lacking refused "lacks the function cairo_svg_surface_create_for_stream()" smacof -f cities.csv -map never.pdf
  verdict "a library that is not Cairo"
fi
