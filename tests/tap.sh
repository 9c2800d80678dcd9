# Sourced by the test scripts: print results in the Test Anything Protocol.
#   ok NAME        not_ok NAME [FILE]     skip NAME WHY        check NAME COMMAND...
ok() { echo "ok - $1"; }
not_ok() { # the file's last lines say what happened
  echo "not ok - $1"
  [ -z "${2:-}" ] || tail -n "${TAP_LINES:-40}" "$2" | sed 's/^/#   /'
}
skip() { echo "ok - $1 # SKIP $2"; }
check() { # passes when the command does; its output is shown when it fails
  local name=$1 log
  shift
  log=$(mktemp)
  if "$@" >"$log" 2>&1; then ok "$name"; else not_ok "$name" "$log"; fi
  rm -f "$log"
}
