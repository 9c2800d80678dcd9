#!/usr/bin/env bash
# Runs every lint and prints TAP, including remarks that are not errors.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
bad=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for lint in tests/lint/*.sh; do
  name=lint-$(basename "$lint" .sh)
  [ "$name" = lint-run_lint ] && continue
  "$lint" >"$log" 2>&1
  case $? in
  0) ok "$name"; [ ! -s "$log" ] || sed 's/^/#   /' "$log" ;;
  77) skip "$name" "$(sed -n 's/^SKIP //p' "$log")" ;;
  *) not_ok "$name" "$log"; bad=1 ;;
  esac
done
exit $bad
