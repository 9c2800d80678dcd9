#!/usr/bin/env bash
# Runs every lint and prints TAP, including remarks that are not errors.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
bad=0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
names=$(for lint in tests/lint/*.sh; do basename "$lint" .sh; done | grep -v '^run_lint$')
for name in $names; do # at the same time, since one of them takes longer than all others
  { "tests/lint/$name.sh" >"$tmp/$name" 2>&1; echo $? >"$tmp/$name.code"; } &
done
wait
for name in $names; do
  log=$tmp/$name
  case $(cat "$log.code") in
  0) ok "lint-$name"; [ ! -s "$log" ] || sed 's/^/#   /' "$log" ;;
  77) skip "lint-$name" "$(sed -n 's/^SKIP //p' "$log")" ;;
  *) not_ok "lint-$name" "$log"; bad=1 ;;
  esac
done
exit $bad
