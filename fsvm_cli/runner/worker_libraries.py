"""The libraries that worker processes load when they start; those that are seldom used are imported lazily."""

from fsvm_cli.lazy_imports import SELDOM_USED, import_lazily

import_lazily(*SELDOM_USED)

import fsvm_cli.runner.pools  # noqa: E402, F401 - with all that it imports
