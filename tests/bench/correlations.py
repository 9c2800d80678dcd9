#!/usr/bin/env python3
"""Compares the correlations that bench_bigkernel has written with Python's: correlations.py RATINGS WRITTEN.

RATINGS: Matrix Market file of users, movies and ratings. WRITTEN: the number of the target, then one correlation a line.
"""
import statistics
import sys

ratings = {}
with open(sys.argv[1]) as file:
    lines = [line.split() for line in file if not line.startswith("%")]
for user, movie, rating in lines[1:]:
    ratings.setdefault(int(user), {})[int(movie)] = float(rating)
with open(sys.argv[2]) as file:
    target = int(file.readline())
    written = [float(line) for line in file]
if len(written) != int(lines[0][0]):
    sys.exit(f"{len(written)} correlations of {lines[0][0]} users")
mine, nonzero, worst = ratings[target], 0, 0.0
for user, correlation in enumerate(written, 1):
    both = sorted(set(mine) & set(ratings.get(user, ())))
    x, y = [mine[m] for m in both], [ratings[user][m] for m in both]
    defined = len(both) > 1 and len(set(x)) > 1 and len(set(y)) > 1
    expected = statistics.correlation(x, y) if defined else 0.0
    nonzero += expected != 0
    worst = max(worst, abs(correlation - expected))
print(f"target {target}: {nonzero} of {len(written)} correlations are not 0, largest difference {worst:.1e}")
if worst > 1e-12 or nonzero < len(written) // 2:
    sys.exit("the correlations differ, or most of them are 0")
