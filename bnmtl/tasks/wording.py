"""Lists and counts as the messages of this package write them."""


def listed(names, noun="", limit=10):
    """Write names for a message: columns `a`, `b` and 3 more (`limit=None`: all of them)."""
    names = list(names)
    noun = f"{noun}s " if noun and len(names) != 1 else f"{noun} " if noun else ""
    shown = ", ".join(f"`{name}`" for name in names[:limit])
    more = f" and {len(names) - limit} more" if limit and len(names) > limit else ""
    return noun + shown + more


def count(n, noun):
    """Write a number and its noun: 1 row, 2 rows."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
