"""What workers load, and leave until it is asked for, as the command line does."""

from fsvm_cli.lazy_imports import SELDOM_USED, import_lazily

import_lazily(*SELDOM_USED)

import fsvm_cli.runner.pools  # noqa: E402, F401 - with all that it imports
