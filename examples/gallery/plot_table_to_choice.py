"""
From a table to a defended choice
=================================

A table of measurements and a column with the class: which columns does a classifier need, and how sure is that?
The table here holds the chemical analysis of 178 wines of three cultivars.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from fsvm_cli import load_dataset, rank

wine = load_dataset("wine")
folder = Path(tempfile.mkdtemp())
table = pd.DataFrame(wine.X, columns=wine.feature_names)
table["cultivar"] = [wine.class_names[code] for code in wine.y]
table.to_csv(folder / "mine.csv", index=False)
table.head()

# %%
# A first look: one ranking of all rows. It orders the columns, but says nothing about how many are needed, and nothing
# about new wines.

first = rank(folder / "mine.csv", target="cultivar", method="relief-f")
first.head()


# %%
# ``fsvm init`` writes a config for the table: rankings that fit its size, two kinds of machine, random splits. Here it
# is shortened to 10 splits, and to 19 permutations of the labels on 2 splits, so that this page is built in a minute.


def fsvm(*arguments: str) -> str:
    """Call the command line in the folder of the table, and return what it prints."""
    command = [sys.executable, "-m", "fsvm_cli", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


fsvm("init", "mine.csv", "--target", "cultivar")
config = (folder / "mine.yaml").read_text()
for default, shorter in (
    ("  splits: 50", "  splits: 10"),
    ("permutations: 39", "permutations: 19"),
    ("_splits: 5", "_splits: 2"),
):
    config = config.replace(default, shorter)
(folder / "mine.yaml").write_text(config)
print(config)

# %%
# The run ranks, selects and tunes inside the training part of each split, and tests on the other part.

fsvm("run", "mine.yaml", "--jobs", "1", "--quiet", "--format", "svg")
curves = pd.read_csv(folder / "results" / "mine" / "curves.csv").query("part == 'test'")
figure, axes = plt.subplots(figsize=(7, 4))
for ranking, rows in curves.groupby("ranking"):
    style = {"color": "black", "linestyle": ":"} if ranking == "random" else {}
    axes.plot(rows["n_features"], 100 * rows["mean"], marker=".", label=ranking, **style)
axes.set_xlabel("Number of columns")
axes.set_ylabel("Test accuracy (%)")
axes.legend(fontsize=7, ncols=2)
figure.tight_layout()

# %%
# What the run recommends: first whether any ranking is better than chance, then the smallest subset within a point of
# the best mean, with an interval for new rows.

recommended = pd.read_csv(folder / "results" / "mine" / "recommendation.csv")
recommended[["ranking", "n_features", "mean", "ci_low", "ci_high", "recommended"]]

# %%
# The features that are kept in at least 80 % of the splits are those that the choice can be defended with.

print(recommended.loc[recommended["recommended"] == True, "steady_features"].item())  # noqa: E712 - empty in two rows
