"""Running experiments: missing trials are scheduled on workers, and their outcomes stored.

Worker processes import this package first: libraries that few trials use are then loaded at their first use.
"""

from __future__ import annotations

from fsvm_cli.lazy_imports import SELDOM_USED, import_lazily

import_lazily(*SELDOM_USED)
