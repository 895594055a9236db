"""Layout of HTML pages: style sheet, sections, tables, numbers, embedded pictures."""

import base64
import math
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

from bnmtl.io.run import versions
from bnmtl.writing import write_whole

_LARGEST_SVG = 4_000_000  # characters; larger pictures are embedded as PNG

# Nothing that a page could contain by mistake is run or loaded.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
_STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial,
  "DejaVu Sans", sans-serif; color: #222; background: #fff; margin: 0; }
main { max-width: 1120px; margin: 0 auto; padding: 24px 20px 60px; }
h1 { font-size: 26px; margin: 0 0 8px; }
h2 { font-size: 19px; margin: 38px 0 8px; padding-top: 10px; border-top: 1px solid #ddd; }
p { max-width: 75ch; margin: 8px 0; }
.lead { font-size: 17px; }
.note { color: #555; font-size: 13.5px; }
.warning { border-left: 4px solid #e69f00; padding: 4px 12px; background: #fff8e8; }
figure { margin: 16px 0; }
figure.wide { width: 96vw; margin-left: calc(50% - 48vw); text-align: center; }
.panels figure { display: inline-block; margin: 8px 24px 8px 0; vertical-align: top; }
figure img { max-width: 100%; height: auto; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13.5px; font-variant-numeric: tabular-nums; }
th, td { padding: 3px 8px; text-align: right; border-bottom: 1px solid #e6e6e6;
  white-space: nowrap; }
th { font-weight: 600; vertical-align: bottom; border-bottom: 2px solid #bbb; }
th.name, td.name { text-align: left; }
th .up { writing-mode: vertical-rl; transform: rotate(180deg); }
td.text { text-align: left; white-space: normal; overflow-wrap: anywhere; }
table.arcs th.task { padding: 3px 4px; text-align: center; }
table.arcs td.cell { padding: 3px 7px; min-width: 44px; border-left: 1px solid #f0f0f0; }
td.reversible { font-style: italic; }
td .share { font-size: 11.5px; font-style: normal; }
td .weak { color: #777; text-decoration: underline dotted; }
td.lacking { background: repeating-linear-gradient(135deg, #fff 0 4px, #ececec 4px 5px); }
td.opposite, td.absent { color: #999; text-align: center; }
td .list { text-align: left; white-space: normal; overflow-wrap: anywhere; min-width: 30ch; }
.gap { color: #882255; font-weight: 700; }
details { margin: 10px 0; } summary { cursor: pointer; font-weight: 600; }
@media print { main { max-width: none; padding: 0; } figure.wide { width: 100%; margin-left: 0; }
  h2 { break-after: avoid; } tr, figure { break-inside: avoid; } .scroll { overflow: visible; }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact; } }
"""


@dataclass(frozen=True)
class Html:
    """Text with markup; any other text is escaped where it enters a page."""

    text: str


def bold(text):
    """Text in bold."""
    return Html(f"<b>{escape(text)}</b>")


def _html(content):
    return content.text if isinstance(content, Html) else escape(str(content))


def write_page(path, title, lead, sections, messages, settings, times):
    """Write an HTML page atomically; warnings, settings and times come last.

    Parameters
    ----------
    path : str or path-like
        File to write; an existing one is replaced.
    title : str
    lead : str or Html
        One or two introductory sentences.
    sections : iterable of str
        With markup; empty sections are omitted.
    messages : iterable of str
        Warnings.
    settings : mapping
        Name -> value, as shown on the page.
    times : mapping or None
        Stage -> seconds.

    Returns
    -------
    pathlib.Path
        The file.
    """
    sections = [*sections, _messages_section(messages), _settings_section(settings, times)]
    page = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f'<h1>{escape(title)}</h1>\n<p class="lead">{_html(lead)}</p>\n'
        + "\n".join(section for section in sections if section)
        + "\n</main>\n</body>\n</html>\n"
    )
    path = Path(path)
    write_whole(path, page.encode(errors="backslashreplace"))
    return path


def _messages_section(messages):
    """List warnings; empty if there are none."""
    paragraphs = "\n".join(f'<p class="warning">{escape(str(one))}</p>' for one in messages)
    return f"<h2>Warnings</h2>\n{paragraphs}" if paragraphs else ""


def _settings_section(settings, times):
    """List settings (expanded), seconds and versions; empty lists are omitted."""
    parts = ["<h2>How this was computed</h2>"]
    for name, values in (("Settings", settings), ("Seconds", times), ("Versions", versions())):
        if values:
            rows = "".join(
                f'<tr><td class="name">{escape(str(key))}</td><td class="text">{_value(one)}</td>'
                "</tr>"
                for key, one in values.items()
            )
            opened = " open" if name == "Settings" else ""
            body = f"<summary>{name}</summary><table>{rows}</table>"
            parts.append(f"<details{opened}>{body}</details>")
    return "\n".join(parts)


def image(figure, text, wide=False):
    """Embed a figure at its original size, as SVG unless that is very large."""
    from bnmtl import plotting

    content = plotting.svg(figure)
    kind, data = "svg+xml", content.encode()
    if len(content) > _LARGEST_SVG:
        kind, data = "png", plotting.png(figure)
    width, height = (round(96 * side) for side in figure.get_size_inches())
    return (
        f'<figure{" class=wide" if wide else ""}><img width="{width}" height="{height}" '
        f'alt="{escape(text)}" src="data:image/{kind};base64,{base64.b64encode(data).decode()}">'
        "</figure>"
    )


def table(header, rows, n_names):
    """Make a table whose first `n_names` columns are names; cells are text or `Html`."""

    def line(cells, tag):
        kinds = [' class="name"' if i < n_names else "" for i in range(len(cells))]
        pairs = zip(kinds, map(_html, cells), strict=True)
        return "".join(f"<{tag}{kind}>{cell}</{tag}>" for kind, cell in pairs)

    body = "".join(f"<tr>{line(row, 'td')}</tr>" for row in rows)
    return f'<div class="scroll"><table><tr>{line(header, "th")}</tr>{body}</table></div>'


def frame_table(corner, frame):
    """Make a table of a frame of text or `Html`; the first column is its index."""
    return table([corner, *frame], frame.itertuples(name=None), 1)


def _value(setting):
    """Write one setting; lists and mappings have one entry per line."""
    if isinstance(setting, Mapping):
        return "<br>".join(f"{escape(str(key))}: {_value(one)}" for key, one in setting.items())
    if isinstance(setting, (list, tuple)):
        return "<br>".join(_value(one) for one in setting) or "none"
    if isinstance(setting, float):
        return f"{setting:.15g}"
    return "none" if setting is None else escape(str(setting))


def number(amount, digits=1, signed=False):
    """Write a number with a Unicode minus sign and thousands separators."""
    amount = float(amount)
    if math.isinf(amount):
        return "\u221e" if amount > 0 else "\u2212\u221e"
    if round(amount, digits) == 0:
        amount, signed = 0.0, False
    return f"{amount:{'+' if signed else ''},.{digits}f}".replace("-", "\u2212")


def count(n, noun):
    """As `wording.count`, with thousands separators as in `number`."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
