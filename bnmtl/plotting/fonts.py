"""Fonts for the names of variables and tasks in any script."""

import contextlib
import warnings
from functools import lru_cache

from bnmtl.errors import warn

# Fonts of matplotlib with placeholders or symbols in place of letters.
_NO_TEXT = ("cm", "Last Resort", "STIXNonUnicode", "STIXSize")


def families(text):
    """Return the font families for a text.

    Parameters
    ----------
    text : str

    Returns
    -------
    list of str
        The families of matplotlib's settings and, for missing characters, installed ones that have
        them.
    """
    import matplotlib

    chosen = matplotlib.rcParams["font.family"]
    fallbacks, _ = _fallbacks(_lacking(text, tuple(chosen)))
    return [*chosen, *fallbacks]


def warn_of_boxes(names):
    """Warn once about all names with characters that no installed font has."""
    import matplotlib

    chosen = tuple(matplotlib.rcParams["font.family"])
    boxes = [name for name in names if _fallbacks(_lacking(name, chosen))[1]]
    if boxes:
        warn(
            None,
            "No installed font has all characters of {names}, which are drawn as boxes",
            remedies="install a font for this script, such as one of the Noto family",
            names=boxes,
        )


@contextlib.contextmanager
def silence():
    """Suppress matplotlib's warnings about each character drawn as a box."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph \d+ .*missing from")
        yield


def _lacking(text, chosen):
    """Return the characters of a text that are missing from all chosen families."""
    signs = {sign for sign in text if sign.isprintable() and not sign.isspace()}
    # Most names need no check of a font.
    return frozenset(sign for sign in signs if not sign.isascii() and not _has(chosen, sign))


@lru_cache(maxsize=4096)
def _has(chosen, sign):
    from matplotlib.font_manager import FontProperties, findfont, get_font

    fonts = (get_font(findfont(FontProperties(family=[family]))) for family in chosen)
    return any(font.get_char_index(ord(sign)) for font in fonts)


@lru_cache(maxsize=256)
def _fallbacks(lacking):
    """Choose installed families for characters; returns them and the characters still missing."""
    chosen = []
    for family in _installed(lacking):
        found = frozenset(sign for sign in lacking if _has((family,), sign))
        if found:
            chosen.append(family)
            lacking -= found
    return tuple(chosen), lacking


def _installed(signs):
    """List the families with any of the characters, those with most of them first."""
    from matplotlib.font_manager import fontManager, get_font

    counts = {}
    for font in fontManager.ttflist if signs else ():
        if not font.name.startswith(_NO_TEXT):
            face = get_font(font.fname)
            n_found = sum(face.get_char_index(ord(sign)) > 0 for sign in signs)
            counts[font.name] = max(counts.get(font.name, 0), n_found)
    return sorted((name for name in counts if counts[name]), key=lambda name: (-counts[name], name))
