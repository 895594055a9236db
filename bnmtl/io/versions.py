"""Versions of the software behind a result."""

_PACKAGES = (
    "numpy",
    "scipy",
    "pandas",
    "networkx",
    "scikit-learn",
    "numba",
    "joblib",
    "matplotlib",
)


def versions():
    """Return the versions of Python, bnmtl and its dependencies.

    Examples
    --------
    >>> from bnmtl.io.versions import versions
    >>> sorted(versions())[:3]
    ['bnmtl', 'joblib', 'matplotlib']
    """
    import platform
    from importlib.metadata import PackageNotFoundError, version

    import bnmtl

    found = {"python": platform.python_version(), "bnmtl": bnmtl.__version__}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "unknown"
    return found
