#!/usr/bin/env bash
# The documentation: quoted messages exist; the site has all pages and no broken link; words are spelled correctly; pictures can be drawn again; damaged
# pages are errors.
set -u
. "$(dirname "$0")/../env.sh"
[ "${GPUCSR_PREBUILT:-}" = 1 ] && { skip "documentation site" "the programs were built elsewhere"; exit 0; }
command -v python3 >/dev/null || { skip "documentation site" "python3 is not installed"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
log=$work/log
out=$work/out
mkdir "$out"
ln -s "$BUILD/bin" "$out/bin"

check "the messages in docs/troubleshooting.md are those of the sources" python3 tests/site/messages.py
printf '| `unknown option ...; did you want` | x | y |\n%.0s' {1..10} >"$work/page.md"
if python3 tests/site/messages.py "$work/page.md" >"$log" 2>&1 || ! grep -q 'page.md:1: no source has the message' "$log"; then
  not_ok "error: a message that no source has" "$log"
else
  ok "error: a message that no source has"
fi

tools/site/build.py --quick "$out" test >"$log" 2>&1
case $? in
0) ok "the site has no broken link, and its navigation has all pages of docs/" ;;
77) skip "documentation site" "Sphinx with MyST and Furo is not installed"; exit 0 ;;
*) not_ok "the site has no broken link, and its navigation has all pages of docs/" "$log" ;;
esac

# --- spelling, also of the reference and of the notebooks; words that codespell takes for errors are in spelling.words ---------------------
if command -v codespell >/dev/null; then
  spell() { codespell -q 3 -I tests/site/spelling.words --skip '*.svg,*.png,*.csv,*.bin' "$1" >"$log" 2>&1; }
  if spell "$out/site-pages"; then ok "the words of the site are spelled correctly"; else not_ok "the words of the site are spelled correctly" "$log"; fi
  echo 'Teh matrix recieves values.' >"$work/spelling.md"
  if spell "$work/spelling.md" || ! grep -q 'recieves' "$log"; then not_ok "error: a word that is spelled wrong" "$log"; else ok "error: a word that is spelled wrong"; fi
else
  skip "the words of the site are spelled correctly" "codespell is not installed"
fi

# --- gallery: a script draws the pictures of the programs again ---------------------------------------------------------------------------
if BUILD=$BUILD tools/site/gallery.sh --programs "$work/gallery" >"$log" 2>&1; then
  for picture in docs/gallery/*.svg; do
    [ -s "$work/gallery/$(basename "$picture")" ] || echo "$picture: tools/site/gallery.sh does not draw it" >>"$log"
  done
  for picture in docs/gallery/*; do
    grep -q "($(basename "$(dirname "$picture")")/$(basename "$picture"))" docs/gallery.md || echo "$picture: docs/gallery.md does not show it" >>"$log"
    grep -q "$(basename "${picture%.*}")" tools/site/gallery.sh || echo "$picture: tools/site/gallery.sh does not draw it" >>"$log"
  done
  python3 -c 'import sys, xml.dom.minidom
for name in sys.argv[1:]: xml.dom.minidom.parse(name)' "$work"/gallery/*.svg >>"$log" 2>&1
  if grep -q . "$log"; then not_ok "the pictures of the gallery" "$log"; else ok "the pictures of the gallery"; fi
else
  not_ok "the pictures of the gallery" "$log"
fi

# --- a small tree with its own pages: HTML, and errors -------------------------------------------------------------------------
tree=$work/tree
mkdir -p "$tree/docs" "$tree/tools" "$tree/examples/kmeans" "$tree/include"
cp -r tools/site tools/manualpages.py "$tree/tools/"
cp include/gpucsrkmeans.h "$tree/include/"
cp -r --parents solvers/kmeans "$tree/"
touch "$tree/examples/kmeans/main.c"
index() { printf '# Index\n\n## Use\n\n- [The first](first.md): a page\n- [The notebook](../examples/notebooks/new.ipynb)\n' >"$tree/docs/README.md"; }
mkdir "$tree/examples/notebooks"
printf '{"cells": [{"cell_type": "markdown", "source": ["# A notebook\\n", "\\n", "Text, [page](../../docs/first.md)."]}, {"cell_type": "code", "source": ["number = 7"]}]}' >"$tree/examples/notebooks/new.ipynb"
echo '# How to run' >"$tree/examples/notebooks/README.md"
page() { printf '# First page\n\n[code](../tools/site/conf.py), [itself](#first-page), [home](README.md) and `[no](link.md)`. %s\n' "${1:-}" >"$tree/docs/first.md"; }
build() { "$tree/tools/site/build.py" "$@" "$out" test >"$log" 2>&1; }
has() { grep -q -- "$1" "$2" || { echo "$2 has no $1" >>"$log"; return 1; }; }
index
page
if build && has 'docs/first.html' "$out/site/index.html" && has 'reference/kmeans.html' "$out/site/docs/first.html" && has 'href="#first-page"' "$out/site/docs/first.html" \
  && has 'conf.py"' "$out/site/docs/first.html" && has 'id="kmeanscreate"' "$out/site/reference/KMeans.html" && has 'bmrm_\|kmeans_clusters' "$out/site/reference/kmeans.html" \
  && has 'new.ipynb"' "$out/site/examples/notebooks/new.html" && has 'docs/first.html' "$out/site/examples/notebooks/new.html" && has '<span class="mi">7</span>' "$out/site/examples/notebooks/new.html" \
  && has 'gpucsr_storage' "$out/site/reference/types.html" && has '&lt;euclidean' "$out/site/reference/KMeans.html" && ! grep -rq 'url(/' "$out/site/_static" && has kmeanscreate "$out/site/searchindex.js"; then
  ok "the site has pages, notebooks, navigation, links to sources, a reference of functions, programs and types, and a search index"
else
  not_ok "contents of the site" "$log"
fi
fails() { # name, words of the message
  build --quick
  if [ $? -eq 1 ] && grep -q -- "$2" "$log"; then ok "error: $1"; else not_ok "error: $1" "$log"; fi
}
page '[x](#missing) and [y](second.md)'
fails "a link to a missing page" 'docs/first.md: link to second.md: there is no such file'
page '[x](#missing)'
fails "a link to a missing heading" 'first.md:3: .*#missing'
page
cp "$tree/docs/first.md" "$tree/docs/second.md"
fails "a page that the navigation lacks" 'docs/second.md: docs/README.md does not list this page'
