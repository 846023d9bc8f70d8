"""Make five tables of the kinds that people bring, into the folder that is named: `python make_tables.py FOLDER`.

They are drawn at random with fixed seeds, so that everybody has the same; `docs/own-data.md` walks through them. Each
has features that matter and others that do not, and one thing that is commonly done wrong.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd


def clinic() -> pd.DataFrame:
    """Draw 240 patients as a hospital's program in Germany exports them: words, gaps, a number for each patient."""
    rng = np.random.default_rng(1)
    ill = rng.permutation(240) < 100
    frame = pd.DataFrame(
        {
            "Patient": rng.permutation(240) + 1001,
            "Alter": (58 + 12 * rng.normal(size=240) + 6 * ill).round(1),
            "CRP": np.exp(1.2 + 0.6 * rng.normal(size=240) + 0.9 * ill).round(1),
            "Leukozyten": (7.2 + 1.8 * rng.normal(size=240) + 1.1 * ill).round(2),
            "Blutdruck": (128 + 15 * rng.normal(size=240)).round(),
            "BMI": (26 + 4 * rng.normal(size=240)).round(1),
            "Geschlecht": rng.choice(["m", "w"], 240),
            "Raucher": np.where(ill, rng.choice(["ja", "nie"], 240, p=[0.6, 0.4]), rng.choice(["ja", "nie"], 240)),
            "Station": rng.choice(["A1", "A2", "B1"], 240),
            "Befund": np.where(ill, "krank", "gesund"),
        }
    )
    for column, share in (("CRP", 0.08), ("Leukozyten", 0.12), ("BMI", 0.15), ("Raucher", 0.05)):
        frame[column] = frame[column].mask(rng.uniform(size=240) < share)
    return frame


def genes() -> pd.DataFrame:
    """Draw the logarithms of the expression of 1,000 genes in 60 tumours; 15 genes in groups of three differ."""
    rng = np.random.default_rng(2)
    kind = rng.permutation(60) < 22
    level = rng.normal(size=(60, 1000))
    pathways = rng.normal(size=(60, 5)) + 1.8 * kind[:, None]
    level[:, :15] = 0.8 * np.repeat(pathways, 3, axis=1) + 0.6 * level[:, :15]
    return pd.DataFrame((8 + level).round(2), columns=[f"g{gene:04d}" for gene in range(1, 1001)]).assign(
        tumour=np.where(kind, "ALK", "EGFR")
    )


def texts() -> str:
    """Draw 400 messages, each a line of words and how often they occur, in LIBSVM's format; words 1 to 30 tell."""
    rng = np.random.default_rng(3)
    lines = []
    for number in range(400):
        is_offer = number % 2
        often = 0.02 * rng.gamma(0.5, 1.0, 2000)
        often[:30] += 0.06 * is_offer
        counts = rng.poisson(often)
        words = " ".join(f"{word + 1}:{counts[word]}" for word in np.flatnonzero(counts).tolist())
        lines.append(f"{is_offer} {words}\n")
    return "".join(lines)


def payments() -> pd.DataFrame:
    """Draw 2,020 payments, of which 20 are frauds."""
    rng = np.random.default_rng(4)
    fraud = rng.permutation(2020) < 20
    values = rng.normal(size=(2020, 12))
    values[:, 0] += 2.0 * fraud
    values[:, 1] -= 1.5 * fraud
    values[:, 2] += 1.2 * fraud
    columns = ["amount", "age_of_account", "distance", *(f"v{number}" for number in range(4, 13))]
    return pd.DataFrame(values.round(3), columns=columns).assign(fraud=np.where(fraud, "yes", "no"))


def visits() -> pd.DataFrame:
    """Draw 4 visits of each of 50 people, whose gait is their own; two features say who is at risk of falling."""
    rng = np.random.default_rng(5)
    person = np.repeat(np.arange(50), 4)
    at_risk = np.arange(50) % 2 == 1
    own = 2.0 * rng.normal(size=(50, 14))
    own[:, :2] += 1.5 * at_risk[:, None]
    values = own[person] + 0.3 * rng.normal(size=(200, 14))
    frame = pd.DataFrame(values.round(3), columns=[f"gait{number}" for number in range(1, 15)])
    frame = frame.assign(person=[f"P{number:02d}" for number in person], falls=np.where(at_risk[person], "yes", "no"))
    return frame.iloc[rng.permutation(200)]


def write_tables(folder: Path) -> None:
    """Write all five."""
    clinic().to_csv(folder / "clinic.csv", index=False, sep=";", decimal=",", na_rep="-")
    genes().to_csv(folder / "genes.csv", index=False)
    (folder / "texts.svm").write_text(texts(), encoding="ascii")
    payments().to_csv(folder / "payments.csv", index=False)
    visits().to_csv(folder / "visits.csv", index=False)


if __name__ == "__main__":
    write_tables(Path(sys.argv[1]))
