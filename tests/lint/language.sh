#!/usr/bin/env bash
# Language rules that a program can check: forbidden words, paragraph length in pages, length of commit subjects.
#
# tests/lint/language.words lists the words and their replacements.
cd "$(dirname "$0")/../.." || exit 1
command -v python3 >/dev/null || { echo "SKIP python3 is not installed"; exit 77; }
exec python3 tests/lint/language.py
