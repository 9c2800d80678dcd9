"""Checks of tests/lint/language.sh. Prints one line a finding; exit code 1 if there is any."""
import re
import subprocess
import sys

LONGEST_PARAGRAPH = 80  # words
LONGEST_SUBJECT = 72    # characters
# Commits up to this one were written before the rules.
FIRST_COMMIT = "a624c1d5"
CODE = (".c", ".h", ".cu", ".cuh", ".def")
PROSE = (".md", ".sh", ".py", ".mk", "makefile", "README", ".ci/run", ".ipynb")

bad = 0


def complain(where, what):
    global bad
    bad = 1
    print(f"{where}: {what}")


def git(*args):
    done = subprocess.run(["git", *args], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""


def read_words():
    words = []
    for line in open("tests/lint/language.words"):
        if line.strip() and not line.startswith("#"):
            word, instead = line.rstrip("\n").split("\t")
            words.append((re.compile(rf"(?<![\w-])(?:{word})(?![\w-])", re.I), instead))
    return words


def prose_of_source(text):
    """Keeps comments and string literals, and blanks all else, so that line numbers stay."""
    out = []
    last = 0
    pattern = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", re.S)
    for m in pattern.finditer(text):
        out.append(re.sub(r"[^\n]", " ", text[last:m.start()]))
        out.append(m.group())
        last = m.end()
    return "".join(out)


def check_words(name, text, words):
    # names in C code follow the rules too; those in CUDA code do not yet
    prose = prose_of_source(text) if name.endswith((".cu", ".cuh")) else text
    for number, line in enumerate(prose.split("\n"), 1):
        for word, instead in words:
            m = word.search(line)
            if m:
                complain(f"{name}:{number}", f'"{m.group()}": write {instead}')


def check_paragraphs(name, text):
    text = re.sub(r"^(```|~~~).*?^\1", lambda m: "\n" * m.group().count("\n"), text, flags=re.S | re.M)
    number, words, start = 0, 0, 1
    for line in text.split("\n") + [""]:
        number += 1
        plain = line.strip()
        if not plain or plain.startswith(("|", "#", "- ", "* ", "<!--")) or re.match(r"\d+\. ", plain) or line.startswith("    "):
            if words > LONGEST_PARAGRAPH:
                complain(f"{name}:{start}", f"a paragraph of {words} words; {LONGEST_PARAGRAPH} at most")
            words = len(plain.split()) if plain.startswith(("- ", "* ")) or re.match(r"\d+\. ", plain) else 0
            start = number
        else:
            if not words:
                start = number
            words += len(plain.split())


def check_subjects():
    if not git("cat-file", "-t", FIRST_COMMIT).strip():
        return  # a shallow clone, or no repository
    for line in git("log", "--no-merges", "--format=%h %s", f"{FIRST_COMMIT}..HEAD").splitlines():
        commit, subject = line.split(" ", 1)
        if len(subject) > LONGEST_SUBJECT:
            complain(commit, f"the commit subject has {len(subject)} characters; {LONGEST_SUBJECT} at most")


def main():
    names = git("ls-files").splitlines()
    if not names:
        print("SKIP no git repository")
        return 77
    words = read_words()
    for name in names:
        if name.startswith(("tests/bench/results/", "tests/lint/language", "CHANGELOG")) or not name.endswith(CODE + PROSE):
            continue
        try:
            text = open(name).read()
        except (UnicodeDecodeError, FileNotFoundError):
            continue
        check_words(name, text, words)
        if name.endswith(".md"):
            check_paragraphs(name, text)
    check_subjects()
    return bad


sys.exit(main())
