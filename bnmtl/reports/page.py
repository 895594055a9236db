"""Jinja templates of HTML pages, their numbers and pictures, and files made of them."""

import base64
import math
import re
import warnings
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.ext import Extension
from jinja2.lexer import Token

from bnmtl import plotting
from bnmtl.io.run import versions
from bnmtl.plotting.drawing import warn_of_failure
from bnmtl.wording import printable
from bnmtl.writing import write_whole

_LARGEST_SVG = 4_000_000  # characters; larger pictures are embedded as PNG


@dataclass(frozen=True)
class Cell:
    """A cell of a table that is in bold or has an interval in a second line."""

    text: str
    is_best: bool = False
    interval: str = ""


class _OneLine(Extension):
    """Writes a space for each line break of a template.

    Templates are wrapped, and a sentence is still found in the source of a page.
    """

    def filter_stream(self, stream):
        for token in stream:
            if token.type == "data":
                token = Token(token.lineno, token.type, re.sub(r"\s*\n\s*", " ", token.value))
            yield token


def number(amount, digits=1, signed=False):
    """Write a number with a Unicode minus sign and thousands separators; NaN is empty."""
    amount = float(amount)
    if math.isnan(amount):
        return ""
    if math.isinf(amount):
        return "\u221e" if amount > 0 else "\u2212\u221e"
    if round(amount, digits) == 0:
        amount, signed = 0.0, False
    return f"{amount:{'+' if signed else ''},.{digits}f}".replace("-", "\u2212")


def count(n, noun):
    """As `wording.count`, with thousands separators as in `number`."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def cells_of(values, smaller_is_better, digits):
    """Cells with numbers; those that look like the best one are in bold."""
    texts = [number(value, digits) for value in values]
    best = number(values.min() if smaller_is_better else values.max(), digits)
    return [Cell(text, text == best != "") for text in texts]


def _image(figure, text):
    """Size of a figure in pixels and its content, as SVG unless that is very large.

    None if there is no figure, or if it cannot be drawn, with a warning that shows the text.
    """
    if figure is None:
        return None
    try:
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            content = plotting.svg(figure)
            kind, data = "svg+xml", content.encode()
            if len(content) > _LARGEST_SVG:
                kind, data = "png", plotting.png(figure)
    except Exception as error:
        warn_of_failure([text], error)
        return None
    width, height = (round(96 * side) for side in figure.get_size_inches())
    source = f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
    return {"width": width, "height": height, "source": source}


def _shown(value):
    """Text with its control characters escaped; what has been made HTML by a template is kept."""
    return printable(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


TEMPLATES = Environment(
    loader=PackageLoader("bnmtl.reports"),
    autoescape=True,
    finalize=_shown,
    undefined=StrictUndefined,
    trim_blocks=True,
    extensions=[_OneLine],
)
TEMPLATES.filters |= {"number": number, "count": count, "image": _image}
TEMPLATES.tests |= {
    "nan": lambda value: value != value,
    "listing": lambda value: isinstance(value, (list, tuple)),
}


def write_page(path, template, record, settings, times, **values):
    """Write an HTML page atomically; warnings, settings and times come last.

    Parameters
    ----------
    path : str or path-like
        File to write; an existing one is replaced.
    template : str
        Name of a file in the folder of templates.
    record : dict
        The contents of run.json; "warnings" is an iterable of str.
    settings : mapping
        Name -> value, as shown on the page.
    times : mapping or None
        Stage -> seconds.
    **values
        What the template shows. Text is escaped.

    Returns
    -------
    pathlib.Path
        The file.
    """
    page = TEMPLATES.get_template(template).render(
        record=record, settings=settings, times=times, versions=versions(), **values
    )
    path = Path(path)
    write_whole(path, page.encode(errors="backslashreplace"))
    return path
