"""Learning to rank with the interface of scikit-learn."""
from __future__ import annotations

from typing import Any, Optional

import numpy as np
import scipy.stats

from ._estimator import check_choice, validate_data  # first: it checks that scikit-learn is installed
from sklearn.utils.validation import check_consistent_length, column_or_1d

from ._bmrm import Problem, train
from .linear_model import _LinearModel

__all__ = ["RankSVM"]

_LOSSES = ("preference", "ordinal", "ndcg")
_WITHOUT_GROUPS = "ordinal"  # this loss compares all samples


class RankSVM(_LinearModel):
    """Linear model whose scores order the samples of a query as their labels do.

    The objective is ``lambda / 2 ||w||^2 + loss`` with lambda = 1 / (C times the number of samples). The model has no intercept, which would not change
    an order.

    Parameters
    ----------
    loss
        ``"preference"``: mean over the queries of the mean of ``max(0, 1 - (z_i - z_j))`` over the pairs of samples with ``y_i > y_j``, where z are the
        scores; the loss of a query without such pairs is 0. ``"ordinal"``: the mean over all pairs with ``y_i > y_j`` of
        ``(y_i - y_j) max(0, 1 - (z_i - z_j))``, without queries. ``"ndcg"``: the mean over the queries of an upper bound on 1 - NDCG@10, for labels between 0 and 50.
    C
        Weight of the loss relative to the penalty.
    tol
        Training stops when the certified gap is at most tol times the objective.
    max_iter
        Maximum number of passes over the samples.
    progress
        Whether to show a progress bar of tqdm.

    Attributes
    ----------
    coef_
        The weights of the features.
    objective_, lower_bound_, gap_
        The objective, the greatest lower bound on its minimum that was found, and their difference.
    history_
        The objective and the lower bound before the first pass and after every pass, a row each.
    n_iter_
        Number of passes over the samples.

    Examples
    --------
    >>> import gpucsr
    >>> X, y, group = [[0.0], [1.0], [2.0], [7.0], [9.0]], [1, 2, 3, 1, 2], [1, 1, 1, 2, 2]
    >>> model = gpucsr.RankSVM(C=10).fit(X, y, group=group)
    >>> model.score(X, y, group=group), bool(model.gap_ <= 1e-3 * model.objective_)
    (1.0, True)
    """

    def __init__(self, loss: str = "preference", *, C: float = 1.0, tol: float = 1e-3, max_iter: int = 10000, progress: bool = False):
        self.loss = loss
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.progress = progress

    def fit(self, X: Any, y: Any, group: Any = None) -> "RankSVM":
        """Train on the samples, the rows of a dense or sparse matrix.

        Parameters
        ----------
        X, y
            The samples, and a number for each: of two samples of a query, the one with the larger number belongs before the other.
        group
            The query of each sample, for example its number. Samples of one query need not follow each other. By default all samples belong to one query.
        """
        self._check_positive("C", "tol", "max_iter")
        check_choice(self.loss, _LOSSES, "loss")
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, y_numeric=True)
        y = column_or_1d(np.asarray(y, dtype=np.float64))
        codes = _query_codes(group, len(y))
        if codes is not None and self.loss == _WITHOUT_GROUPS:
            raise ValueError("group: the loss 'ordinal' compares all samples. Use loss='preference', or no group")
        if not _has_pairs(y, codes):
            raise ValueError(f"y: all labels{'' if codes is None else ' of each query'} are equal, n_samples = {len(y)}. Pass samples with different labels")
        problem = Problem(self.loss, 1.0 / (self.C * len(y)), "l2", self.tol, self.max_iter, fit_intercept=False, progress=self._bar_name())
        self._store(train(X, [y], None, problem, codes), True)
        self.coef_ = self.coef_[0]
        self.intercept_ = 0.0
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the scores of the samples. The sample with the highest score is the first of its query."""
        return self._scores(X)

    def score(self, X: Any, y: Any, group: Any = None) -> float:
        """Return the part of the pairs with different labels that the scores order as the labels do.

        A pair with equal scores counts half. The result is the mean over the queries that have such pairs. For one query without equal labels and
        scores it is ``(1 + tau) / 2``, with Kendall's tau.
        """
        scores = self.predict(X)
        y = column_or_1d(np.asarray(y, dtype=np.float64))
        check_consistent_length(scores, y)
        codes = _query_codes(group, len(y))
        values = [v for v in (_pair_accuracy(y[members], scores[members]) for members in _queries(codes, len(y))) if v is not None]
        if not values:
            raise ValueError("y: all labels of each query are equal. Pass samples with different labels")
        return float(np.mean(values))

    def _more_tags(self) -> dict:
        return {"requires_y": True}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _query_codes(group: Any, n: int) -> Optional[np.ndarray]:
    """Return the queries of the samples as numbers from 0, or None if there are none."""
    if group is None:
        return None
    group = column_or_1d(group)
    if len(group) != n:
        raise ValueError(f"group has {len(group)} entries for {n} samples. Pass the query of each sample; numpy.repeat makes it from the sizes of the queries")
    return np.unique(group, return_inverse=True)[1].astype(np.float64)


def _queries(codes: Optional[np.ndarray], n: int) -> list:
    """Return the samples of each query."""
    if codes is None:
        return [np.arange(n)]
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)


def _has_pairs(y: np.ndarray, codes: Optional[np.ndarray]) -> bool:
    """Whether a query has samples with different labels."""
    return any(np.ptp(y[members]) > 0 for members in _queries(codes, len(y)))


def _pairs(*keys: np.ndarray) -> float:
    """Return the number of pairs of samples whose keys are all equal."""
    counts = np.unique(np.column_stack(keys), axis=0, return_counts=True)[1].astype(np.float64)
    return float((counts * (counts - 1) / 2).sum())


def _pair_accuracy(y: np.ndarray, scores: np.ndarray) -> Optional[float]:
    """Return the part of the pairs with different labels that the scores order right, or None if there is no such pair."""
    total = len(y) * (len(y) - 1) / 2.0
    pairs, decided = total - _pairs(y), total - _pairs(scores)
    if pairs == 0:
        return None
    if decided == 0:
        return 0.5
    with np.errstate(invalid="ignore"):  # of the p-value of two samples
        tau = scipy.stats.kendalltau(y, scores, method="asymptotic")[0]  # tau-b: (right - wrong pairs) / sqrt(pairs * decided)
    return 0.5 + 0.5 * round(tau * np.sqrt(pairs * decided)) / pairs
