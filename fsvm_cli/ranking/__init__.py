"""Floor 2: one ranking method of the papers per file, each a scikit-learn estimator."""
