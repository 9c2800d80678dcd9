#!/usr/bin/env bash
# Draws the pictures of docs/gallery.md:   tools/site/gallery.sh [--programs] <folder>
#
# --programs draws only those of the programs. The others are figures of the notebooks, which need petsc4py, scikit-learn, DOLFINx and data (GPUCSR_DATA).
# BUILD names the folder of the build.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
programs=0
if [ "${1:-}" = --programs ]; then programs=1; shift; fi
[ $# -eq 1 ] || { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
build=$(cd "$root" && realpath -m "${BUILD:-build}")
bin=$build/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export GPUCSR_CAIRO=none PETSC_OPTIONS="-gpucsr_device host" # texts stay texts, and the files small
data=$root/solvers/bmrm/data/breast-cancer

"$bin/pagerank" -rmat 10,8 -picture "$out/pagerank.svg" -topk 1 >log
cat >cities.csv <<end
,Madrid,Paris,Berlin,Rome,Vienna,Warsaw,London
Madrid,0,1054,1870,1365,1810,2290,1264
Paris,1054,0,878,1106,1034,1367,344
Berlin,1870,878,0,1184,524,517,932
Rome,1365,1106,1184,0,765,1316,1434
Vienna,1810,1034,524,765,0,557,1235
Warsaw,2290,1367,517,1316,557,0,1449
London,1264,344,932,1434,1235,1449,0
end
"$bin/smacof" -f cities.csv -map "$out/map.svg" -shepard "$out/shepard.svg" >log
"$bin/kmeans" -f "$data.libsvm" -kmeans_clusters 2 -kmeans_restarts 10 -picture "$out/clusters.svg" >log
"$bin/bmrm" -f "$data.libsvm" -test "$data.t.libsvm" -bmrm_loss logistic -bmrm_lambda 1e-3 -picture "$out/convergence.svg" >log
[ $programs = 0 ] || exit 0

export PYTHONPATH=$root/python GPUCSR_LIBRARY=$build/lib/libgpucsr.so
mkdir figures
/usr/bin/python3 "$root/tests/notebooks/run_notebooks.py" --figures figures "$root"/examples/notebooks/*.ipynb
for name in poisson-1 poisson-2 image-2 map-1 pagerank-1 a9a-2; do
  /usr/bin/python3 -c 'import sys; from PIL import Image; Image.open(sys.argv[1]).convert("RGB").quantize(96).save(sys.argv[2], optimize=True)' "figures/$name.png" "$out/$name.png"
done
