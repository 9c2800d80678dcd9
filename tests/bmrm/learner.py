#!/usr/bin/env python3
"""Compares results of bmrm with those of scikit-learn.  Called by run_learner.sh; exits with 1 and a message if they differ.

   learner.py CASE DATA ... : see the functions whose names begin with case_
"""
import sys

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression


def fail(text):
    sys.exit("learner.py: " + text)


def expect_close(name, ours, theirs, tolerance):
    difference = np.max(np.abs(np.asarray(ours, float) - np.asarray(theirs, float)))
    if not difference <= tolerance:
        fail(f"{name}: largest difference {difference:g} exceeds {tolerance:g}")
    print(f"{name}: largest difference {difference:g}")


def load(file, features=None):
    X, y = load_svmlight_file(file, n_features=features)
    return X.toarray(), y


def predictions(file):
    """The label and the further columns of a file of predictions."""
    rows = [line.split() for line in open(file)]
    return [r[0] for r in rows], np.array([[float(v) for v in r[1:]] for r in rows])


def case_probabilities(data, out, lam, intercept, tolerance):
    """Probabilities of logistic or softmax regression.  The objective of bmrm, times m C with C = 1/(m lambda), is that of scikit-learn."""
    X, y = load(data)
    fit = LogisticRegression(C=1 / (float(lam) * len(y)), fit_intercept=intercept == "1", tol=1e-7, max_iter=1000, multi_class="multinomial" if len(set(y)) > 2 else "auto").fit(X, y)
    labels, columns = predictions(out)
    p = fit.predict_proba(X)
    expect_close("probabilities", columns, p if p.shape[1] > 2 else p[:, 1:], float(tolerance))
    sure = np.sort(p, axis=1)[:, -1] - np.sort(p, axis=1)[:, -2] > float(tolerance)
    if not np.array_equal(np.array(labels, float)[sure], fit.predict(X)[sure]):
        fail("labels differ")


if __name__ == "__main__":
    globals()["case_" + sys.argv[1]](*sys.argv[2:])
