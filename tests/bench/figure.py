"""The figures of the documentation: dot plots of tables of measurements, drawn by matplotlib (Debian: python3-matplotlib).

Colours are those of Okabe and Ito; series also differ in their markers. Letters are outlines, so that every viewer shows the same picture. The file's ending selects the format: .svg, .pdf, .png.
"""
import sys

SERIES = (("#0072b2", "o"), ("#d55e00", "s"), ("#009e73", "^"), ("#e69f00", "D"), ("#cc79a7", "v"), ("#56b4e9", "P"), ("#000000", "X"))
WIDTH = 6.2  # inches: text of 10 points is readable at a width of 400 pixels


def pyplot():
    """matplotlib.pyplot with the style of the figures"""
    try:
        import matplotlib
    except ImportError:
        sys.exit("The figures need matplotlib: install it (Debian: python3-matplotlib), and run the script by /usr/bin/python3")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    plt.rcParams.update({"font.size": 10, "axes.titlesize": 10, "axes.titlelocation": "left", "axes.grid": True, "axes.axisbelow": True, "grid.color": "#e0e0e0", "axes.edgecolor": "#808080", "svg.hashsalt": "gpucsr", "pdf.fonttype": 42,
                         "font.family": "DejaVu Sans", "legend.frameon": False, "legend.handletextpad": 0.3, "legend.columnspacing": 1.2, "lines.linewidth": 2, "figure.dpi": 100, "savefig.dpi": 1600 / WIDTH})
    return plt


def plain(value, _=None):
    """A number along a logarithmic axis"""
    return f"{value:g}" if 1e-4 < value < 1e6 else f"{value:.0e}"


def log_axis(axis, low, high):
    """Sets ticks of an axis from low to high at powers of ten, also at 2 and 5 times them if the axis is short."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator
    axis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5) if high / low < 300 else (1,)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(plain))
    axis.set_minor_formatter(NullFormatter())


def dots(ax, rows, series, title, xlabel, log=True, limits=None, reference=None, labels=None, between=0.8):
    """Draws one row for each name, from above, with a marker for each series. series: {name: {row: value}}. labels: formats the values, which are written to the right of the markers.
    With a reference, a line leads from it to each marker. between: the part of a row over which its markers are spread."""
    gap = between / len(series) if len(series) > 1 else 0
    for k, values in enumerate(series.values()):
        colour, marker = SERIES[k]
        found = [(row + gap * (k - (len(series) - 1) / 2), values[name]) for row, name in enumerate(rows) if values.get(name) is not None]
        if reference is not None:
            ax.hlines([y for y, _ in found], reference, [v for _, v in found], color=colour, linewidth=1.5)
        ax.plot([v for _, v in found], [y for y, _ in found], marker, color=colour, markersize=5.5)
        for y, v in found if labels else ():
            ax.annotate(labels(v), (v, y), xytext=(6, 0), textcoords="offset points", va="center", fontsize=9)
    values = [v for s in series.values() for v in s.values() if v is not None] + ([reference] if reference is not None else [])
    low, high = limits or (min(values), max(values))
    if log:
        ax.set_xscale("log")
        span = high / low
        ax.set_xlim((low / span ** 0.04, high * span ** (0.16 if labels else 0.04)) if limits is None else limits)
        log_axis(ax.xaxis, *ax.get_xlim())
    else:
        ax.set_xlim(*(limits or (0, 1.05 * high)))
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_yticks(range(len(rows)), rows)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="y", visible=False)
    if reference is not None:
        ax.axvline(reference, color="#808080", linewidth=1, zorder=0.9)
    ax.set_title(title)
    ax.set_xlabel(xlabel)


def finish(fig, names, title, note, target):
    """Writes the title, the legend of the series and a note, and saves the figure."""
    from matplotlib.lines import Line2D
    height = fig.get_size_inches()[1]
    rows = -(-len(names) // 4) if len(names) > 1 else 0  # of the legend
    fig.text(0.02, 1 - 0.12 / height, title, fontsize=12, fontweight="bold", va="top")
    if len(names) > 1:
        handles = [Line2D([], [], linestyle="none", marker=SERIES[k][1], color=SERIES[k][0], markersize=6, label=name) for k, name in enumerate(names)]
        fig.legend(handles=handles, loc="upper left", bbox_to_anchor=(0.01, 1 - 0.36 / height), ncol=4, borderaxespad=0)
    if note:
        fig.text(0.02, 0.09 / height, note, fontsize=9, va="bottom")
    fig.tight_layout(rect=(0, (0.3 if note else 0.05) / height, 1, 1 - (0.4 + 0.2 * rows) / height))
    fig.savefig(target, **({"metadata": {"Date": None}} if target.endswith(".svg") else {"metadata": {"CreationDate": None}} if target.endswith(".pdf") else {}))
