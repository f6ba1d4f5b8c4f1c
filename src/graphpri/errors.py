"""Errors that users meet; each message names what is at fault and what to do."""


class GraphPRIError(Exception):
    """Base class of every error that graphpri raises on purpose."""


class GraphError(GraphPRIError, ValueError):
    """The graph is not one that can be sparsified: names the edge or node at fault."""


class OptionError(GraphPRIError, ValueError):
    """An option has a value, or a combination with others, that can't be used."""


class FileError(GraphPRIError, ValueError):
    """A file can't be read or written: names the file and, where there is one, the line."""


class MemoryLimitError(GraphPRIError, MemoryError):
    """Work needs more memory than there is: says how much, and how to go on."""


class MissingExtraError(GraphPRIError, ImportError):
    """An optional library is not installed: names the extra that brings it."""

    def __init__(self, library: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {library}, which is not installed: pip install 'graphpri[{extra}]'")
