"""
Which places of a ranking any correct solver would give
========================================================

Recursive elimination drops the feature of the smallest weight. Where weights lie close together, a solver that stops at
a tolerance may drop another one. ``certify=True`` tells which eliminations are decided by the data.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import StandardScaler

from fsvm_cli import RecursiveFeatureElimination, load_dataset

wine = load_dataset("wine")
X, y = StandardScaler().fit_transform(wine.X), wine.y
X = np.column_stack([X, X[:, 0]])
names = [*wine.feature_names, f"{wine.feature_names[0]} (copy)"]
ranker = RecursiveFeatureElimination(C=1.0, certify=True).fit(X, y)

figure, axes = plt.subplots(figsize=(6, 4))
for j in np.argsort(ranker.scores_):
    low, high = ranker.score_intervals_[j]
    axes.plot([low, high], [names[j]] * 2, color="C0", linewidth=6, solid_capstyle="round")
axes.set_xlabel("Rounds that the feature may stay, from any correct solver")
figure.tight_layout()

# %%
# The two copies may change places; all other places are decided.

{names[j]: [names[rival] for rival in rivals] for j, rivals in ranker.tied_with_.items()}
