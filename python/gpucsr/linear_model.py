"""Linear models with the interface of scikit-learn, and with a certificate of their accuracy.

The objective of all models is ``lambda Omega(w) + mean loss``. ``gap_`` is an upper bound on the difference between the objective of the model and the minimum.
"""
from __future__ import annotations

from typing import Any, List, Optional, Union

import numpy as np
import scipy.special

from ._estimator import SparseInput, check_choice, check_weights, validate_data  # first: it checks that scikit-learn is installed
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import compute_sample_weight
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ._bmrm import Problem, Solution, train

__all__ = ["LinearSVC", "LogisticRegression", "Ridge", "LinearSVR"]

_PENALTIES = ("l2", "l1", "elasticnet")
_SVC_LOSSES = {"hinge": "hinge", "squared_hinge": "sqhinge"}
_SVR_LOSSES = {"epsilon_insensitive": "epsilon", "squared_epsilon_insensitive": "sqepsilon"}


class _LinearModel(SparseInput, BaseEstimator):
    """The parts that classifiers and regressors share.

    Attributes
    ----------
    coef_, intercept_, n_features_in_
        As in scikit-learn.
    objective_, lower_bound_, gap_
        The objective, the greatest lower bound on its minimum that was found, and their difference. With one model for each class, arrays.
    history_
        The objective and the lower bound before the first pass and after every pass, a row each. With one model for each class, a list of arrays.
    n_iter_
        Number of passes over the samples.
    """

    progress: bool

    def _check_positive(self, *names: str) -> None:
        for name in names:
            value = getattr(self, name)
            if not value > 0:
                raise ValueError(f"{name}={value!r}: it must be positive")

    def _store(self, solution: Solution, single: bool) -> None:
        self.coef_ = solution.coef
        self.intercept_: Any = solution.intercept
        self.n_iter_ = solution.iterations
        objective, bound = solution.objective, solution.lower_bound
        self.objective_: Union[float, np.ndarray] = float(objective[0]) if single else objective
        self.lower_bound_: Union[float, np.ndarray] = float(bound[0]) if single else bound
        self.gap_ = self.objective_ - self.lower_bound_
        self.history_: Union[np.ndarray, List[np.ndarray]] = solution.history[0] if single else solution.history

    def _bar_name(self) -> str:
        """Return the name in the progress bar, or nothing if none is wanted."""
        return type(self).__name__ if self.progress else ""

    def _scores(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_


def _drop_unweighted(X: Any, y: np.ndarray, weights: Optional[np.ndarray]) -> tuple:
    """Remove the samples of weight 0, which cannot change the model, and weights that are all equal."""
    if weights is not None and (weights == 0).any():
        keep = np.flatnonzero(weights)
        X, y, weights = X[keep], y[keep], weights[keep]
    return X, y, weights


class _LinearClassifier(ClassifierMixin, _LinearModel):
    def _targets(self, codes: np.ndarray, k: int) -> List[np.ndarray]:
        """Return the labels of the problems: class numbers for a loss of all classes, or one class against the others."""
        if k > 2 and self._joint_loss:
            return [codes.astype(np.float64)]
        return [np.where(codes == c, 1.0, -1.0) for c in ([1] if k == 2 else range(k))]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Train on the samples, the rows of a dense or sparse matrix, with one label each."""
        self._check_positive("C", "tol", "max_iter")
        loss = self._loss()
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        weights = check_weights(sample_weight, X)
        if self.class_weight is not None:
            balance = compute_sample_weight(self.class_weight, y)
            weights = balance if weights is None else weights * balance
        X, y, weights = _drop_unweighted(X, y, weights)
        self.classes_, codes = np.unique(y, return_inverse=True)
        k = len(self.classes_)
        if k < 2:
            raise ValueError(f"the samples with a positive weight are of 1 class, {self.classes_[0]!r}. Pass samples of at least two classes")
        total = len(y) if weights is None else weights.sum()
        joint = k > 2 and self._joint_loss
        penalty, ratio = self._penalty()
        problem = Problem(loss if not joint else self._joint_loss, 1.0 / (self.C * total), penalty, self.tol, self.max_iter, ratio, k if joint else 0, self.fit_intercept, progress=self._bar_name())
        self._store(train(X, self._targets(codes, k), weights, problem), k == 2 or joint)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores of the samples: one number each for two classes, else one for each class."""
        scores = self._scores(X)
        return scores.ravel() if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> np.ndarray:
        """Return the classes of the samples."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]


class LinearSVC(_LinearClassifier):
    """Linear support vector classifier.

    The objective is that of ``sklearn.svm.LinearSVC`` divided by C times the sum of the weights of the samples. The intercept is not regularised. Several
    classes have one model each, which separates the class from all others; the models share the passes over the samples.

    Parameters
    ----------
    penalty
        ``"l2"`` or ``"l1"``.
    loss
        ``"squared_hinge"`` or ``"hinge"``.
    C
        Weight of the losses relative to the penalty.
    tol
        Training stops when the certified gap is at most tol times the objective.
    fit_intercept
        Whether the model has an intercept.
    class_weight
        ``"balanced"``, or a dictionary from classes to weights.
    max_iter
        Maximum number of passes over the samples.
    progress
        Whether to show a progress bar of tqdm.

    Examples
    --------
    >>> import gpucsr
    >>> model = gpucsr.LinearSVC(C=10).fit([[0.0], [1.0], [3.0], [4.0]], ["a", "a", "b", "b"])
    >>> model.predict([[0.5], [3.5]]).tolist(), bool(model.gap_ <= 1e-4 * model.objective_)
    (['a', 'b'], True)
    """

    _joint_loss: Optional[str] = None

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        C: float = 1.0,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        class_weight: Union[str, dict, None] = None,
        max_iter: int = 10000,
        progress: bool = False,
    ):
        self.penalty = penalty
        self.loss = loss
        self.C = C
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.progress = progress

    def _loss(self) -> str:
        return _SVC_LOSSES[check_choice(self.loss, tuple(_SVC_LOSSES), "loss")]

    def _penalty(self) -> tuple:
        return check_choice(self.penalty, ("l2", "l1"), "penalty"), 0.5


class LogisticRegression(_LinearClassifier):
    """Logistic regression; for several classes with the multinomial loss.

    The objective is that of ``sklearn.linear_model.LogisticRegression`` divided by C times the sum of the weights of the samples.

    Parameters
    ----------
    penalty
        ``"l2"``, ``"l1"`` or ``"elasticnet"``.
    l1_ratio
        Part of the absolute values in the penalty elasticnet, between 0 and 1.
    C, tol, fit_intercept, class_weight, max_iter, progress
        As for ``LinearSVC``.

    Examples
    --------
    >>> import gpucsr
    >>> model = gpucsr.LogisticRegression().fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> model.predict_proba([[2.0]]).round(3).tolist()
    [[0.5, 0.5]]
    """

    _joint_loss = "softmax"

    def __init__(
        self,
        penalty: str = "l2",
        *,
        C: float = 1.0,
        l1_ratio: float = 0.5,
        tol: float = 1e-5,
        fit_intercept: bool = True,
        class_weight: Union[str, dict, None] = None,
        max_iter: int = 10000,
        progress: bool = False,
    ):
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.progress = progress

    def _loss(self) -> str:
        return "logistic"

    def _penalty(self) -> tuple:
        penalty = check_choice(self.penalty, _PENALTIES, "penalty")
        if not 0 <= self.l1_ratio <= 1:
            raise ValueError(f"l1_ratio={self.l1_ratio!r}: it must be between 0 and 1")
        if penalty == "elasticnet" and self.l1_ratio in (0, 1):
            penalty = "l1" if self.l1_ratio else "l2"
        return penalty, self.l1_ratio

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the classes, with a row for each sample."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([scipy.special.expit(-scores), scipy.special.expit(scores)])
        return scipy.special.softmax(scores, axis=1)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithms of the probabilities of the classes."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([-np.logaddexp(0, scores), -np.logaddexp(0, -scores)])
        return scipy.special.log_softmax(scores, axis=1)


class _LinearRegressor(RegressorMixin, _LinearModel):
    def _fit(self, X: Any, y: Any, sample_weight: Any, scale: float, loss: str, parameters: Optional[dict] = None) -> Any:
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, y_numeric=True)
        y = column_or_1d(np.asarray(y, dtype=np.float64))
        X, y, weights = _drop_unweighted(X, y, check_weights(sample_weight, X))
        total = len(y) if weights is None else weights.sum()
        problem = Problem(loss, scale / total, "l2", self.tol, self.max_iter, fit_intercept=self.fit_intercept, parameters=parameters, progress=self._bar_name())
        self._store(train(X, [y], weights, problem), True)
        self.coef_ = self.coef_[0]
        self.intercept_ = float(self.intercept_[0])
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted numbers of the samples."""
        return self._scores(X)


class Ridge(_LinearRegressor):
    """Linear least squares with the squared norm of the coefficients as penalty.

    The objective is that of ``sklearn.linear_model.Ridge`` divided by twice the sum of the weights of the samples.

    Parameters
    ----------
    alpha
        Weight of the penalty.
    tol
        Training stops when the certified gap is at most tol times the objective.
    fit_intercept, max_iter, progress
        As for ``LinearSVC``.

    Examples
    --------
    >>> import gpucsr
    >>> model = gpucsr.Ridge(alpha=1e-3).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> model.predict([[3.0]]).round(2).tolist()
    [7.0]
    """

    def __init__(self, alpha: float = 1.0, *, tol: float = 1e-6, fit_intercept: bool = True, max_iter: int = 10000, progress: bool = False):
        self.alpha = alpha
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.progress = progress

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "Ridge":
        """Train on the samples, the rows of a dense or sparse matrix, with one number each."""
        self._check_positive("alpha", "tol", "max_iter")
        return self._fit(X, y, sample_weight, self.alpha, "leastsquares")


class LinearSVR(_LinearRegressor):
    """Linear support vector regression.

    The objective is that of ``sklearn.svm.LinearSVR`` divided by C times the sum of the weights of the samples. The intercept is not regularised.

    Parameters
    ----------
    epsilon
        Errors up to this size cost nothing.
    loss
        ``"epsilon_insensitive"`` or ``"squared_epsilon_insensitive"``.
    C, tol, fit_intercept, max_iter, progress
        As for ``LinearSVC``.
    """

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        loss: str = "epsilon_insensitive",
        C: float = 1.0,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        max_iter: int = 10000,
        progress: bool = False,
    ):
        self.epsilon = epsilon
        self.loss = loss
        self.C = C
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.progress = progress

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "LinearSVR":
        """Train on the samples, the rows of a dense or sparse matrix, with one number each."""
        self._check_positive("C", "tol", "max_iter")
        loss = _SVR_LOSSES[check_choice(self.loss, tuple(_SVR_LOSSES), "loss")]
        if self.epsilon < 0:
            raise ValueError(f"epsilon={self.epsilon!r}: it must not be negative")
        if self.epsilon > 0:
            return self._fit(X, y, sample_weight, 1.0 / self.C, loss, {"epsilon": self.epsilon})
        if loss == "sqepsilon":
            raise ValueError("epsilon=0 with loss='squared_epsilon_insensitive' is least squares. Use Ridge(alpha=1 / (2 * C)), or a positive epsilon")
        return self._fit(X, y, sample_weight, 1.0 / self.C, "absolute")
