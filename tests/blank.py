"""Pictures that are not drawn, for tests of commands that look at something else."""

from matplotlib.figure import Figure

CONTENTS = {"png": b"\x89PNG\r\n\x1a\n", "svg": '<?xml version="1.0"?>\n<svg></svg>\n'}


def drawn(test):
    """Mark a test that looks at pictures."""
    test.is_drawn = True
    return test


def blank_pictures(request, monkeypatch):
    """Let figures be made as ever but saved empty, except in marked tests: drawing takes long."""

    def save(figure, file, format, **_):
        assert figure.axes
        file.write(CONTENTS[format])

    if not hasattr(request.function, "is_drawn"):
        monkeypatch.setattr(Figure, "savefig", save)
