#!/usr/bin/env python3
"""Compares results of bmrm with those of scikit-learn.  Called by run_learner.sh; exits with 1 and a message if they differ.

   learner.py CASE DATA ... : see the functions whose names begin with case_
   learner.py serve         : runs many cases, because the imports take longer than most of them
"""
import contextlib
import json
import sys
import traceback

import numpy as np
from scipy.optimize import linprog, minimize_scalar
from scipy.special import logsumexp, softmax
from sklearn.datasets import dump_svmlight_file, load_diabetes, load_svmlight_file
from sklearn import metrics
from sklearn.calibration import calibration_curve
from sklearn.linear_model import Lasso, LogisticRegression, Ridge


def fail(text):
    sys.exit("learner.py: " + text)


def expect_close(name, ours, theirs, tolerance):
    difference = np.max(np.abs(np.asarray(ours, float) - np.asarray(theirs, float)))
    if not difference <= tolerance:
        fail(f"{name}: largest difference {difference:g} exceeds {tolerance:g}")
    print(f"{name}: largest difference {difference:g}")


def expect_points(name, ours, theirs):
    """The points of a written curve (threshold first) are points of the whole curve; of long curves some are left out."""
    ours, theirs = np.array(ours), np.array(theirs)
    if not min(len(theirs), 100) <= len(ours) <= min(len(theirs), 201):
        fail(f"{name}: {len(ours)} points, the whole curve has {len(theirs)}")
    at = np.argmin(np.abs(theirs[:, :1] - ours[:, 0]), axis=0)
    expect_close(name, ours, theirs[at], 1e-12)


def load(file, features=None):
    X, y = load_svmlight_file(file, n_features=features)
    return X.toarray(), y


def predictions(file):
    """The label and the further columns of a file of predictions."""
    rows = [line.split() for line in open(file)]
    return [r[0] for r in rows], np.array([[float(v) for v in r[1:]] for r in rows])


def case_probabilities(data, out, lam, intercept, tolerance, weights=None, classes=None):
    """Probabilities of logistic or softmax regression.  The objective of bmrm, times m C with C = 1/(m lambda), is that of scikit-learn."""
    X, y = load(data)
    v = np.loadtxt(weights) if weights else np.ones(len(y))
    if classes != "balanced":
        for c, w in (item.split(":") for item in (classes or "").split(",") if item):
            v = np.where(y == float(c), float(w), 1) * v
    fit = LogisticRegression(C=1 / (float(lam) * (len(y) if classes == "balanced" else v.sum())), class_weight="balanced" if classes == "balanced" else None, fit_intercept=intercept == "1", tol=1e-7, max_iter=1000, multi_class="multinomial" if len(set(y)) > 2 else "auto").fit(X, y, sample_weight=v)
    labels, columns = predictions(out)
    p = fit.predict_proba(X)
    expect_close("probabilities", columns, p if p.shape[1] > 2 else p[:, 1:], float(tolerance))
    sure = np.sort(p, axis=1)[:, -1] - np.sort(p, axis=1)[:, -2] > float(tolerance)
    if not np.array_equal(np.array(labels, float)[sure], fit.predict(X)[sure]):
        fail("labels differ")


def case_write(name, file):
    """Writes a data set of scikit-learn."""
    X, y = {"diabetes": load_diabetes}[name](return_X_y=True)
    dump_svmlight_file(X, y, file, zero_based=False)


def case_ridge(data, out, lam, tolerance):
    """Predictions of least squares with an intercept."""
    X, y = load(data)
    fit = Ridge(alpha=float(lam) * len(y), tol=1e-12).fit(X, y)
    expect_close("predictions", [float(v) for v in predictions(out)[0]], fit.predict(X), float(tolerance))


def case_multiclass(data, lam, objective, tolerance):
    """The minimum of the loss multiclass with absolute values of the weights and free intercepts, by linear programming."""
    X, y = load(data)
    classes, of = np.unique(y, return_inverse=True)
    m, n, k = len(y), X.shape[1], len(classes)
    cost = np.concatenate([np.full(2 * n * k, float(lam)), np.zeros(k), np.full(m, 1 / m)])
    A, b = [], []
    for i in range(m):
        for c in range(k):
            if c == of[i]:
                continue
            row = np.zeros(len(cost))
            for sign, l in ((1, c), (-1, of[i])):
                row[l * n : (l + 1) * n] += sign * X[i]
                row[(k + l) * n : (k + l + 1) * n] -= sign * X[i]
                row[2 * n * k + l] += sign
            row[2 * n * k + k + i] = -1
            A.append(row)
            b.append(-1)
    bounds = [(0, None)] * (2 * n * k) + [(None, None)] * k + [(0, None)] * m
    expect_close("objective", float(objective), linprog(cost, np.array(A), b, bounds=bounds, method="highs").fun, float(tolerance))


def case_path(data, report, loss):
    """The largest lambda of a path is the smallest one without weights, the rule of one standard error holds, and the chosen model is that of scikit-learn."""
    X, y = load(data)
    with open(report) as f:
        r = json.load(f)
    path = r["path"]
    residual = y - y.mean() if loss == "leastsquares" else (y > 0) - (y > 0).mean()
    top = np.max(np.abs(X.T @ residual)) / len(y)
    if not 1 <= path[0]["lambda"] / top <= 1.1:
        fail(f"the first lambda is {path[0]['lambda']:g}, the null model needs {top:g}")
    expect_close("ratio", path[-1]["lambda"] / path[0]["lambda"], 1e-4, 1e-10)
    sign = 1 if loss == "leastsquares" else -1
    best = min(path, key=lambda p: sign * p["validation"])
    chosen = next(p for p in path if sign * p["validation"] <= sign * best["validation"] + best["standard_error"])
    if not chosen["chosen"] or sum(p["chosen"] for p in path) != 1 or r["lambda"] != chosen["lambda"]:
        fail("the lambda is not that of the rule")
    if loss == "leastsquares":
        fit = Lasso(alpha=chosen["lambda"], tol=1e-10, max_iter=100000).fit(X, y)
        expect_close("objective", chosen["objective"], np.mean((fit.predict(X) - y) ** 2) / 2 + chosen["lambda"] * np.abs(fit.coef_).sum(), 1e-3)


def case_quality(data, out, report):
    """Confusion matrix, scores of the classes, curves and calibration, from the predictions (label, scores, probabilities)."""
    y = load(data)[1]
    labels, columns = predictions(out)
    with open(report) as f:
        q = json.load(f)["quality"]
    predicted, classes = np.array(labels, float), np.unique(y)
    expect_close("confusion", q["confusion"], metrics.confusion_matrix(y, predicted), 0)
    scores = metrics.precision_recall_fscore_support(y, predicted)
    for k, key in enumerate(("precision", "recall", "f1", "examples")):
        expect_close(key, [c[key] for c in q["classes"]], scores[k], 1e-14)
    expect_close("balanced accuracy", q["balanced_accuracy"], metrics.balanced_accuracy_score(y, predicted), 1e-14)
    expect_close("mean F1", q["mean_f1"], metrics.f1_score(y, predicted, average="macro"), 1e-14)
    if len(classes) == 2:
        score, p = columns[:, 0], columns[:, 1]
        positive = y == classes[1]
        expect_close("log loss", q["log_loss"], metrics.log_loss(positive, p), 1e-12)
        expect_close("Brier score", q["brier_score"], metrics.brier_score_loss(positive, p), 1e-12)
        expect_close("average precision", q["average_precision"], metrics.average_precision_score(positive, score), 1e-12)
        fpr, tpr, threshold = metrics.roc_curve(positive, score, drop_intermediate=False)
        expect_points("ROC", q["roc"], np.column_stack([threshold, fpr, tpr])[1:])
        precision, recall, threshold = metrics.precision_recall_curve(positive, score)
        expect_points("precision and recall", q["precision_recall"], np.column_stack([threshold, recall[:-1], precision[:-1]]))
        right = positive
    else:
        p = columns[:, len(classes) :]
        expect_close("log loss", q["log_loss"], metrics.log_loss(y, p), 1e-12)
        expect_close("Brier score", q["brier_score"], np.mean(np.sum((p - (y[:, None] == classes)) ** 2, axis=1)), 1e-12)
        right, p = predicted == y, p.max(axis=1)
    fraction, mean = calibration_curve(right, p, n_bins=10)
    expect_close("calibration", [(b["probability"], b["fraction"]) for b in q["calibration"]], np.column_stack([mean, fraction]), 1e-12)
    expect_close("calibration error", q["calibration_error"], sum(b["examples"] / len(y) * abs(b["probability"] - b["fraction"]) for b in q["calibration"]), 1e-12)


def case_temperature(data, out, model):
    """The temperature of a model, fitted to the scores of the training data, and the probabilities with it."""
    y = load(data)[1]
    columns = predictions(out)[1]
    classes, of = np.unique(y, return_inverse=True)
    m, k = len(y), len(classes)
    scores, p = columns[:, :k], columns[:, k:]
    T = float(next(line.split()[1] for line in open(model) if line.startswith("temperature ")))
    target = np.eye(k)[of] * (1 - k / (m + k)) + 1 / (m + k)
    beta = minimize_scalar(lambda b: np.sum(logsumexp(b * scores, axis=1) - b * np.sum(target * scores, axis=1)), bounds=(1e-3, 1e3), method="bounded", options={"xatol": 1e-9}).x
    expect_close("temperature", T * beta, 1, 1e-6)
    expect_close("probabilities", p, softmax(scores / T, axis=1), 1e-12)


def case_serve():
    """Each line of standard input has a file for messages, a case and its arguments, separated by tabs. The answer is ok or failed."""
    for line in sys.stdin:
        log, case, *arguments = line.rstrip("\n").split("\t")
        with open(log, "a") as file, contextlib.redirect_stdout(file):
            try:
                globals()["case_" + case](*arguments)
                answer = "ok"
            except (Exception, SystemExit):
                traceback.print_exc(file=file)
                answer = "failed"
        print(answer, flush=True)


if __name__ == "__main__":
    globals()["case_" + sys.argv[1]](*sys.argv[2:])
