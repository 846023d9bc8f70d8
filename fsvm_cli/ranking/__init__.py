"""One ranking method of the papers per file, each a scikit-learn estimator."""

from fsvm_cli.jit_cache import use_cache_of_these_sources

use_cache_of_these_sources()
