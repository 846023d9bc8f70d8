"""Runs experiments: what is missing is scheduled on workers and stored."""

from fsvm_cli.postponed import postpone_what_few_use

# Every worker loads scikit-learn.
postpone_what_few_use()
