#!/usr/bin/env bash
# Language rules that a program can check: forbidden words, paragraph length in pages, length of commit subjects.
#
# tests/lint/language.words lists the words and their replacements.  tests/lint/language.todo lists files that were written before
# these rules and still wait to be rewritten: the rules do not apply to them.  No file may be added to that list.
cd "$(dirname "$0")/../.." || exit 1
command -v python3 >/dev/null || { echo "SKIP python3 is not installed"; exit 77; }
exec python3 tests/lint/language.py
