#!/usr/bin/env bash
# Every script has valid syntax, begins with #!/usr/bin/env bash, and is executable.
cd "$(dirname "$0")/../.." || exit 1
bad=0
for f in $(find tests packaging .ci -name '*.sh' -o -path .ci/run 2>/dev/null | sort); do
  bash -n "$f" || bad=1
  case $f in tests/env.sh | tests/tap.sh) continue ;; esac
  [ "$(head -n1 "$f")" = '#!/usr/bin/env bash' ] || { echo "$f: the first line is not #!/usr/bin/env bash"; bad=1; }
  [ -x "$f" ] || { echo "$f: is not executable"; bad=1; }
done
exit $bad
