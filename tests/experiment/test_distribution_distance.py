"""The record of what the Kolmogorov-Smirnov statistic measures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.stats

from fsvm_cli.errors import UsageError
from fsvm_cli.experiment.columns import columns_of
from fsvm_cli.experiment.experiment import Trial
from fsvm_cli.experiment.plan import plan
from fsvm_cli.experiment.trial import draw_parts
from fsvm_cli.ranking.kolmogorov_smirnov import KolmogorovSmirnov
from fsvm_cli.report.diagnostics import RecordToDraw, draw_record
from tests.helpers.small import recorded

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from fsvm_cli.spec.config import LoadedConfig

RECORD: dict[str, Any] = {
    "dataset": {"name": "noise20", "samples": 80},
    "rankings": [{"method": "fisher"}, {"method": "kolmogorov-smirnov"}],
    "record": ["distribution-distance"],
}


def test_the_functions_are_those_whose_distance_is_the_score(load: Callable[..., LoadedConfig], tmp_path: Path) -> None:
    loaded = load(**RECORD)
    experiment = plan(loaded, print)
    tables = recorded(experiment, "distribution-distance")
    parts = draw_parts(experiment, Trial(40, 0))
    scores = KolmogorovSmirnov().fit(parts.X_train, parts.y_train).scores_
    columns = columns_of(experiment, 0)
    of_features = dict([*tables["distributions"].groupby("feature", sort=False)])
    shown = [scores[columns == int(name[1:]) - 1].item() for name in of_features]
    np.testing.assert_allclose(shown, np.sort(scores)[::-1][:6])
    for name, rows in of_features.items():
        feature = int(np.flatnonzero(columns == int(name[1:]) - 1)[0])
        column = parts.X_train[:, feature]
        distance = (rows["all_samples"] - rows["in_class"]).abs().max()
        assert np.sqrt(40) * distance == pytest.approx(scores[feature])
        in_class = scipy.stats.ecdf(column[parts.y_train == 1]).cdf.evaluate(rows["value"])
        np.testing.assert_allclose(rows["in_class"], in_class)
    data = {"class_names": experiment.source.class_names}
    (path,) = draw_record("distribution-distance", RecordToDraw(tables, loaded.config, data, {}, tmp_path, ("svg",)))
    drawing = path.read_text()
    for name in of_features:
        assert f"<!-- {name} -->" in drawing
    assert drawing.count("<!-- Density -->") == drawing.count("<!-- Share of samples -->") == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dataset": "wine"}, "a distribution distance needs 2 classes; wine has 3"),
        ({"rankings": [{"method": "fisher"}]}, "a distribution distance shows a kolmogorov-smirnov ranking; list one"),
    ],
)
def test_what_has_no_such_functions_is_refused(
    load: Callable[..., LoadedConfig], changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=rf"small\.yaml:\d+:\d+: {message}"):
        plan(load(**(RECORD | changes)), print)
