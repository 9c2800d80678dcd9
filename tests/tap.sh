# Sourced by the test scripts: print results in the Test Anything Protocol.
#   ok NAME        not_ok NAME [FILE]     skip NAME WHY        check NAME COMMAND...
ok() { echo "ok - $1"; }
not_ok() { # prints the last lines of the file as the cause
  echo "not ok - $1"
  [ -z "${2:-}" ] || tail -n "${TAP_LINES:-40}" "$2" | sed 's/^/#   /'
}
skip() { echo "ok - $1 # SKIP $2"; }
check() { # passes if the command succeeds; otherwise prints its output
  local name=$1 log
  shift
  log=$(mktemp)
  if "$@" >"$log" 2>&1; then ok "$name"; else not_ok "$name" "$log"; fi
  rm -f "$log"
}
tap_total() { # prints the failed tests of a file of results, ten of them with the last lines of their causes, and the totals; fails unless at least one test passed and none failed
  local failed skipped passed
  failed=$(grep -c '^not ok' "$1")
  skipped=$(grep -c '^ok.* # SKIP' "$1")
  passed=$(($(grep -c '^ok' "$1") - skipped))
  if [ "$failed" -gt 0 ]; then
    echo "# failed:"
    awk '/^not ok/ { flush(); sub(/^not ok - /, ""); name = $0; next } name != "" && /^#   / { line[n++] = $0; next } { flush() } END { flush() }
      function flush(  k) {
        if (name != "") print "#   " name
        if (name != "" && ++shown <= 10) for (k = n > 12 ? n - 12 : 0; k < n; k++) print "#   " line[k]
        name = ""
        n = 0
      }' "$1"
  fi
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}
