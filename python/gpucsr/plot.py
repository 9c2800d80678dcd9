"""Plots by matplotlib. Every function draws into the axes ``ax``, or into those of a new figure, and returns the axes."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Iterable, Optional, Sequence

import numpy as np
import scipy.sparse
from scipy.spatial.distance import pdist

# Offset of a text from its point in typographic points, horizontal and vertical alignment.
_LABEL_PLACES = [
    ((5, 0), "left", "center"),
    ((-5, 0), "right", "center"),
    ((0, 5), "center", "bottom"),
    ((0, -5), "center", "top"),
    ((4, 4), "left", "bottom"),
    ((4, -4), "left", "top"),
    ((-4, 4), "right", "bottom"),
    ((-4, -4), "right", "top"),
]

__all__ = ["convergence", "regularization_path", "mds_map", "shepard", "rank_distribution"]


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot
    except ImportError:
        raise ImportError("gpucsr.plot needs matplotlib, which is not installed. On Debian: apt-get install python3-matplotlib") from None
    return matplotlib.pyplot.subplots(layout="constrained")[1]


def _fitted(model: Any, attribute: str, estimators: str) -> Any:
    value = getattr(model, attribute, None)
    if value is None:
        raise ValueError(f"{type(model).__name__} has no {attribute}. Pass {estimators} of gpucsr after fit")
    return value


def convergence(model: Any, *, ax: Any = None) -> Any:
    """Draw the certified gap of linear models by pass, or the normalised stress of MDS by iteration.

    Parameters
    ----------
    model
        A linear model, ``RankSVM`` or ``MDS`` after ``fit``, or a dictionary from names to such models.
    ax
        Axes of matplotlib.

    Returns
    -------
    matplotlib.axes.Axes
        The axes, with a line for each model, or for each class if a model has several.

    Examples
    --------
    >>> import gpucsr, gpucsr.plot
    >>> model = gpucsr.Ridge().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 6.0])
    >>> gpucsr.plot.convergence(model).get_ylabel()
    'objective minus lower bound'
    """
    models = model if isinstance(model, Mapping) else {"": model}
    histories = {str(name): _fitted(one, "history_", "a linear model, RankSVM or MDS") for name, one in models.items()}
    maps = {hasattr(one, "embedding_") for one in models.values()}
    if len(maps) != 1:
        raise ValueError("the gap of linear models and the stress of MDS do not fit into one plot. Pass models of one kind")
    ax = _axes(ax)
    for (name, history), one in zip(histories.items(), models.values()):
        if isinstance(history, list):
            for label, rows in zip(one.classes_, history):
                _draw_gap(ax, rows, f"{name} {label}".strip())
        elif maps == {True}:
            ax.semilogy(np.arange(1, len(history) + 1), history, label=name)
        else:
            _draw_gap(ax, history, name)
    ax.set_xlabel("iteration" if maps == {True} else "pass over the samples")
    ax.set_ylabel("normalised stress" if maps == {True} else "objective minus lower bound")
    _legend(ax)
    return ax


def _draw_gap(ax: Any, history: np.ndarray, label: str) -> None:
    gap = history[:, 0] - history[:, 1]
    shown = np.isfinite(gap) & (gap > 0)  # the axis is logarithmic
    ax.semilogy(np.flatnonzero(shown), gap[shown], label=label)


def _legend(ax: Any) -> None:
    if any(not text.startswith("_") for text in ax.get_legend_handles_labels()[1] if text):
        ax.legend()


def regularization_path(
    estimator: Any, X: Any, y: Any, values: Optional[Iterable[float]] = None, *, parameter: Optional[str] = None, names: Optional[Sequence[str]] = None, top: int = 8, ax: Any = None, **fit: Any
) -> Any:
    """Train a linear model for several values of ``C`` (weight of the loss) or ``alpha`` (weight of the penalty), and draw the coefficients over these values.

    Parameters
    ----------
    estimator
        A linear model of gpucsr or scikit-learn. It is not changed.
    X, y
        The samples and their labels.
    values
        The values of the parameter. The default is 13 values between 1e-4 and 100, at equal distances on the logarithmic axis.
    parameter
        The name of the parameter. The default is ``"C"``, or ``"alpha"`` for an estimator without ``C``.
    names
        The names of the features.
    top
        Number of features in the legend: those with the largest absolute coefficients. The others are grey. 0: no legend.
    ax
        Axes of matplotlib.
    fit
        Other arguments of ``fit``, for example ``sample_weight`` or ``group``.

    Returns
    -------
    matplotlib.axes.Axes
        The axes, with a line for each feature. If the model has several rows of coefficients, the line is the 2-norm of those of the feature.

    Examples
    --------
    >>> import gpucsr, gpucsr.plot
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [3.0, 1.0], [4.0, 0.0]], [0, 0, 1, 1]
    >>> ax = gpucsr.plot.regularization_path(gpucsr.LinearSVC(penalty="l1"), X, y, [0.01, 0.1, 1], names=["size", "age"])
    >>> len(ax.lines), ax.get_xlabel()
    (2, 'C')
    """
    from sklearn.base import clone

    parameters = estimator.get_params()
    parameter = parameter or ("C" if "C" in parameters else "alpha")
    if parameter not in parameters:
        raise ValueError(f"{type(estimator).__name__} has no parameter {parameter!r}. Pass the name of one as parameter")
    places = np.logspace(-4, 2, 13) if values is None else np.sort(np.asarray(list(values), dtype=np.float64))
    if not len(places) or not (places > 0).all():
        raise ValueError("values: the axis is logarithmic. Pass positive numbers")
    d = X.shape[1] if scipy.sparse.issparse(X) else np.shape(X)[1]
    if names is not None and len(names) != d:
        raise ValueError(f"names: there are {len(names)} names for {d} features. Pass a name for each feature")
    ax = _axes(ax)
    paths = np.empty((len(places), d))
    for row, value in zip(paths, places):
        coef = np.atleast_2d(clone(estimator).set_params(**{parameter: value}).fit(X, y, **fit).coef_)
        row[:] = coef[0] if len(coef) == 1 else np.linalg.norm(coef, axis=0)
    largest = np.argsort(-np.abs(paths).max(axis=0), kind="stable")
    for j in largest[top:] if top else largest:
        ax.semilogx(places, paths[:, j], **({"color": "0.75", "linewidth": 0.8, "zorder": 1} if top else {}))
    for j in largest[:top]:
        ax.semilogx(places, paths[:, j], label=f"feature {j}" if names is None else str(names[j]))
    ax.set_xlabel(parameter)
    ax.set_ylabel("coefficient")
    if top:
        _legend(ax)
    return ax


def mds_map(points: Any, labels: Optional[Sequence[Any]] = None, *, groups: Any = None, ax: Any = None) -> Any:
    """Draw the points of a map, with labels beside them.

    Parameters
    ----------
    points
        An ``MDS`` after ``fit``, or an array with the coordinates of a point in each row. The plot shows the first two coordinates.
    labels
        A text for each point, or None. An empty text is not drawn.
    groups
        The group of each point, for example its class. Each group has a colour and a line in the legend.
    ax
        Axes of matplotlib.

    Returns
    -------
    matplotlib.axes.Axes
        The axes. Both have the same scale, and no numbers: only distances have a meaning.

    Examples
    --------
    >>> import gpucsr, gpucsr.plot
    >>> mds = gpucsr.MDS(dissimilarity="precomputed").fit([[0, 3, 4], [3, 0, 5], [4, 5, 0]])
    >>> [text.get_text() for text in gpucsr.plot.mds_map(mds, ["a", "b", "c"]).texts]
    ['a', 'b', 'c']
    """
    array = np.asarray(getattr(points, "embedding_", points), dtype=np.float64)
    if array.ndim != 2 or not array.shape[1]:
        raise ValueError("points: pass an MDS after fit, or an array with a point in each row")
    for name, given in (("labels", labels), ("groups", groups)):
        if given is not None and len(given) != len(array):
            raise ValueError(f"{name} has {len(given)} entries for {len(array)} points. Pass one for each point")
    ax = _axes(ax)
    x, y = array[:, 0], array[:, 1] if array.shape[1] > 1 else np.zeros(len(array))
    members = [(None, np.arange(len(array)))] if groups is None else [(g, np.flatnonzero(np.asarray(groups) == g)) for g in np.unique(groups)]
    for group, rows in members:
        ax.scatter(x[rows], y[rows], s=16, label=None if group is None else str(group))
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xticks([])
    ax.set_yticks([])
    if groups is not None:
        ax.legend()
    if labels is not None:
        _write_labels(ax, np.column_stack((x, y)), [str(text) for text in labels])
    return ax


def _write_labels(ax: Any, points: np.ndarray, labels: Sequence[str]) -> None:
    """Write a text beside each point, where it covers the fewest points and other texts, and stays within the axes."""
    ax.figure.draw_without_rendering()  # sets the scale of the axes, which the extents of texts depend on
    pixels, frame, boxes = ax.transData.transform(points), ax.get_window_extent(), []
    for text, point in zip(labels, points):
        if not text:
            continue
        best = None
        for offset, horizontal, vertical in _LABEL_PLACES if len(labels) <= 500 else _LABEL_PLACES[:1]:  # the search takes the square of the number of texts
            note = ax.annotate(text, point, xytext=offset, textcoords="offset points", ha=horizontal, va=vertical, fontsize="small")
            box = note.get_window_extent()
            inside = (frame.x0 <= box.x0) + (frame.x1 >= box.x1) + (frame.y0 <= box.y0) + (frame.y1 >= box.y1)
            covered = 10 * (4 - inside) + sum(box.overlaps(other) for other in boxes) + box.count_contains(pixels)
            if best is not None and best[0] <= covered:
                note.remove()
                continue
            if best is not None:
                best[1].remove()
            best = (covered, note, box)
            if not covered:
                break
        boxes.append(best[2])


def shepard(model: Any, X: Any, *, max_pairs: int = 20000, ax: Any = None) -> Any:
    """Draw the Shepard diagram of a map: the distances of the points by the dissimilarities, and the disparities as a line.

    Parameters
    ----------
    model
        An ``MDS`` after ``fit``.
    X
        The argument of ``fit``: samples, or the matrix of the dissimilarities if the model has ``dissimilarity="precomputed"``.
    max_pairs
        Maximum number of pairs that are drawn as points. Of more pairs, the plot shows an evenly spaced sample of the list. The line always uses all pairs.
    ax
        Axes of matplotlib.

    Returns
    -------
    matplotlib.axes.Axes
        The axes. The line is the diagonal for ``metric=True``, else the monotone function that is nearest to the distances.

    Examples
    --------
    >>> import gpucsr, gpucsr.plot
    >>> D = [[0, 3, 4], [3, 0, 5], [4, 5, 0]]
    >>> ax = gpucsr.plot.shepard(gpucsr.MDS(dissimilarity="precomputed").fit(D), D)
    >>> len(ax.collections[0].get_offsets()), ax.get_xlabel()
    (3, 'dissimilarity')
    """
    embedding = _fitted(model, "embedding_", "an MDS")
    array = np.asarray(X, dtype=np.float64)
    n = len(embedding)
    if array.ndim != 2 or len(array) != n or (model.dissimilarity == "precomputed" and array.shape != (n, n)):
        raise ValueError(f"X has the shape {array.shape}, and the map has {n} points. Pass the argument of fit")
    given = array[np.triu_indices(n, 1)] if model.dissimilarity == "precomputed" else pdist(array)
    distances = pdist(embedding)
    ax = _axes(ax)
    shown = np.arange(len(given)) if len(given) <= max_pairs else np.linspace(0, len(given) - 1, max_pairs).astype(int)
    ax.scatter(given[shown], distances[shown], s=6, alpha=0.4, linewidths=0, rasterized=len(shown) > 2000)
    if model.metric:
        line = np.array([0.0, given.max()])
        ax.plot(line, line, color="black", linewidth=1, label="disparity")
    else:
        from sklearn.isotonic import isotonic_regression

        order = np.lexsort((distances, given))  # pairs with equal dissimilarities may have different disparities
        ax.plot(given[order], isotonic_regression(distances[order]), color="black", linewidth=1, label="disparity")
    ax.set_xlabel("dissimilarity")
    ax.set_ylabel("distance in the map")
    ax.legend()
    return ax


def rank_distribution(ranks: Any, *, ax: Any = None) -> Any:
    """Draw ranks in descending order, on logarithmic axes.

    Parameters
    ----------
    ranks
        The result of ``gpucsr.pagerank`` or ``gpucsr.network``, a dictionary from nodes to ranks, or an array. Values of 0 are not shown.
    ax
        Axes of matplotlib.

    Returns
    -------
    matplotlib.axes.Axes
        The axes, with a line for each vector of ranks.

    Examples
    --------
    >>> import gpucsr, gpucsr.plot, scipy.sparse
    >>> ax = gpucsr.plot.rank_distribution(gpucsr.pagerank(scipy.sparse.eye(5, k=1)))
    >>> len(ax.lines[0].get_xdata())
    5
    """
    values = getattr(ranks, "ranks", getattr(ranks, "scores", None))
    if values is None:
        values = list(ranks.values()) if isinstance(ranks, Mapping) else ranks
    rows = np.atleast_2d(np.asarray(values, dtype=np.float64))
    if rows.ndim != 2 or not rows.size:
        raise ValueError("ranks: pass the result of gpucsr.pagerank, a dictionary, or an array")
    labels = getattr(ranks, "names", [f"personalisation {k}" for k in range(len(rows))])
    ax = _axes(ax)
    for k, row in enumerate(rows):
        row = -np.sort(-row[row > 0])
        ax.loglog(np.arange(1, len(row) + 1), row, marker="." if len(row) <= 100 else None, label=labels[k] if len(rows) > 1 else None)
    ax.set_xlabel("place")
    ax.set_ylabel("rank")
    if 1 < len(rows) <= 10:
        ax.legend()
    return ax
