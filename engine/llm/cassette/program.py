"""Which program this is."""

from importlib.metadata import PackageNotFoundError, version


def program() -> str:
    """Version of Otherminds; `unknown` when it is run without having been installed."""
    try:
        return version("otherminds")
    except PackageNotFoundError:
        return "unknown"
