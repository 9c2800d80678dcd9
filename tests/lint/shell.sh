#!/usr/bin/env bash
# The scripts parse, say how they run, and may be run.
cd "$(dirname "$0")/../.." || exit 1
bad=0
for f in $(find tests .ci -name '*.sh' -o -path .ci/run 2>/dev/null | sort); do
  bash -n "$f" || bad=1
  case $f in tests/env.sh | tests/tap.sh) continue ;; esac
  [ "$(head -n1 "$f")" = '#!/usr/bin/env bash' ] || { echo "$f: begins without #!/usr/bin/env bash"; bad=1; }
  [ -x "$f" ] || { echo "$f: is not executable"; bad=1; }
done
exit $bad
