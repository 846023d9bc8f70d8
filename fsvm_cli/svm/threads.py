"""How many threads the linear algebra of one fit has."""

from __future__ import annotations

from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

from threadpoolctl import ThreadpoolController

if TYPE_CHECKING:
    from collections.abc import Generator


@contextmanager
def one_blas_thread() -> Generator[None]:
    """Keep BLAS to one thread; a context manager and a decorator.

    numpy and scipy each bring a BLAS with threads of its own, which after each call spin for some milliseconds and
    take the processor from the next: fits at thousands of samples took up to twice as long with threads.
    """
    libraries = _blas()
    if all(library.num_threads == 1 for library in libraries.lib_controllers):
        yield
        return
    with libraries.limit(limits=1):
        yield


@cache
def _blas() -> ThreadpoolController:
    """Find the libraries once: that takes some milliseconds, a limit some hundredths."""
    return ThreadpoolController().select(user_api="blas")
