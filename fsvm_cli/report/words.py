"""What people read for the words of configs and tables; it loads nothing."""

from __future__ import annotations

FACT_TITLES: dict[str, str] = {
    "n_features": "number of features",
    "n_classes": "number of classes",
    "n_train": "number of training rows",
    "n_test": "number of test rows",
    "major-class": "share of the largest class",
    "class-uncertainty": "uncertainty of the class",
    "classifier-information": "information of the classifier",
}
"""Of facts of the problem, by their names in claims."""
CHOSEN_TITLES: dict[str, str] = {
    "n_active": "number of active features",
    "support_vectors": "number of support vectors",
}
"""Of what methods leave beside scores, by their names in claims."""
OF_MACHINES: frozenset[str] = frozenset({"classifier-information"})
"""Facts that are no facts about the data alone."""
