"""The one source of the version, and versions of what numbers depend on."""

from __future__ import annotations

__version__ = "0.2.0"


def versions(*libraries: str) -> dict[str, str]:
    """Versions of this library, of Python, and of those libraries that are installed.

    Examples
    --------
    >>> list(versions("numpy", "no-such-library"))
    ['graphpri', 'python', 'numpy']
    """
    from importlib.metadata import PackageNotFoundError, version
    from platform import python_version

    found = {"graphpri": __version__, "python": python_version()}
    for name in libraries:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
