"""
Features chosen on all rows look good on noise
==============================================

Here the labels have nothing to do with the features. Features that are chosen with the rows that test them still seem
to predict the class; chosen within the training rows they do not.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline

from fsvm_cli import SVM, Fisher

rng = np.random.default_rng(0)
X, y = rng.standard_normal((60, 1000)), np.repeat([0, 1], 30)
folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=5, random_state=0)
sizes = [1, 2, 5, 10, 20, 50, 100, 1000]
on_all_rows, within = [], []
for size in sizes:
    selector = Fisher(n_features_to_select=size)
    on_all_rows.append(cross_val_score(SVM(C=1), selector.fit(X, y).transform(X), y, cv=folds).mean())
    within.append(cross_val_score(make_pipeline(selector, SVM(C=1)), X, y, cv=folds).mean())

figure, axes = plt.subplots(figsize=(6, 3.5))
axes.semilogx(sizes, 100 * np.array(on_all_rows), marker="o", label="chosen on all rows")
axes.semilogx(sizes, 100 * np.array(within), marker="s", label="chosen within the training rows")
axes.axhline(50, color="grey", linestyle=":", label="guessing")
axes.set_xlabel("Number of features")
axes.set_ylabel("Accuracy in cross-validation (%)")
axes.legend()
figure.tight_layout()

# %%
# With ten features, in %:

{"on all rows": round(100 * on_all_rows[3], 1), "within": round(100 * within[3], 1)}
