#!/usr/bin/env bash
# The documentation: quoted messages exist; the site has all pages and no broken link; damaged pages are errors.
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

# --- a small tree with its own pages: HTML, and errors -------------------------------------------------------------------------
tree=$work/tree
mkdir -p "$tree/docs" "$tree/tools" "$tree/examples/kmeans" "$tree/include"
cp -r tools/site tools/manualpages.py "$tree/tools/"
cp include/gpucsrkmeans.h "$tree/include/"
cp -r --parents solvers/kmeans "$tree/"
touch "$tree/examples/kmeans/main.c"
index() { printf '# Index\n\n## Use\n\n- [The first](first.md): a page\n' >"$tree/docs/README.md"; }
page() { printf '# First page\n\n[code](../tools/site/conf.py), [itself](#first-page), [home](README.md) and `[no](link.md)`. %s\n' "${1:-}" >"$tree/docs/first.md"; }
build() { "$tree/tools/site/build.py" "$@" "$out" test >"$log" 2>&1; }
has() { grep -q -- "$1" "$2" || { echo "$2 has no $1" >>"$log"; return 1; }; }
index
page
if build && has 'docs/first.html' "$out/site/index.html" && has 'reference/kmeans.html' "$out/site/docs/first.html" && has 'href="#first-page"' "$out/site/docs/first.html" \
  && has 'conf.py"' "$out/site/docs/first.html" && has 'id="kmeanscreate"' "$out/site/reference/KMeans.html" && has 'bmrm_\|kmeans_clusters' "$out/site/reference/kmeans.html" \
  && has 'gpucsr_storage' "$out/site/reference/types.html" && has '&lt;euclidean' "$out/site/reference/KMeans.html" && ! grep -rq 'url(/' "$out/site/_static" && has kmeanscreate "$out/site/searchindex.js"; then
  ok "the site has pages, navigation, links to sources, a reference of functions, programs and types, and a search index"
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
