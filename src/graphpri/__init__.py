"""Keep the informative edges of a graph and drop the rest."""

__version__ = "0.1.0"
