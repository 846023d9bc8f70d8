"""What workers load, and leave until it is asked for, as the command line does."""

from fsvm_cli.postponed import SELDOM_USED, postpone

postpone(*SELDOM_USED)

import fsvm_cli.runner.pools  # noqa: E402, F401 - with all that it imports
