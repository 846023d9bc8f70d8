"""The workbench for feature selection with support vector machines."""

__version__ = "0.1.0"
