"""Figures as SVG text and PNG bytes, the same on every run."""

import io

from bnmtl.plotting.fonts import silence

_DPI = 150
_MOST_PIXELS = 12_000  # along either side of a PNG


def svg(figure):
    """Return a figure as SVG text; letters are outlines, so no font is needed.

    Parameters
    ----------
    figure : matplotlib.figure.Figure

    Returns
    -------
    str

    Examples
    --------
    >>> import networkx as nx
    >>> from bnmtl import plotting
    >>> plotting.svg(plotting.dags(nx.DiGraph([("rain", "wet")]))).startswith("<?xml")
    True
    """
    import matplotlib

    buffer = io.StringIO()
    # Otherwise matplotlib uses random names for shapes and writes the time.
    settings = {"svg.hashsalt": "bnmtl", "svg.fonttype": "path"}
    with matplotlib.rc_context(settings), silence():
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def png(figure, dpi=None):
    """Return a figure as the bytes of a PNG file.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    dpi : float, optional
        Pixels per inch. Default: 150, and less for very large figures.

    Returns
    -------
    bytes

    Examples
    --------
    >>> import networkx as nx
    >>> from bnmtl import plotting
    >>> plotting.png(plotting.dags(nx.DiGraph([("rain", "wet")])))[1:4]
    b'PNG'
    """
    if dpi is None:
        dpi = min(_DPI, _MOST_PIXELS / max(figure.get_size_inches()))
    buffer = io.BytesIO()
    with silence():
        figure.savefig(buffer, format="png", dpi=dpi)
    return buffer.getvalue()
