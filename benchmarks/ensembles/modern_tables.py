"""Tables and claims of the study of the profile "modern"."""


def tables(lines):
    """None yet."""
    return {}


def claims(lines):
    """None yet."""
    return []
