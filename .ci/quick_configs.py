"""Write the configs of `make reproduce-quick`: those of all experiments, with few steps where many follow one another.

    python .ci/quick_configs.py build/quick-configs

Ascents on the evidence, descents along weights of kernels and of bounds, and wrappers take many steps however few the
rows are.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from fsvm_cli.spec.collection import EXPERIMENTS_KEY
from fsvm_cli.spec.config import config_in, read_config

ROOT = Path(__file__).resolve().parents[1]
MOST_STEPS = {"max_steps": 2, "max_iterations": 5, "max_evaluations": 10}
"""By the parameter of a method, or of a machine, that limits them."""


def limit_steps(model: BaseModel, content: dict[str, Any]) -> None:
    """Limit the steps of each method and machine in a config, in place.

    Parameters
    ----------
    model : pydantic.BaseModel
        What was read from `content`: it has the parameters that `content` leaves at their defaults, too.
    content : dict
        Is changed.
    """
    for name, value in model:
        part = content.get(name)
        if name in MOST_STEPS:
            content[name] = min(value, MOST_STEPS[name])
        elif isinstance(value, BaseModel) and isinstance(part, dict):
            limit_steps(value, part)
        elif isinstance(part, list):
            for each, its_part in zip(value, part, strict=False):
                if isinstance(each, BaseModel) and isinstance(its_part, dict):
                    limit_steps(each, its_part)


def main() -> None:
    """Write a config for each of those that are shipped, under the same name."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for shipped in sorted((ROOT / "configs").glob("*.yaml")):
        path, document = read_config(str(shipped))
        content = dict(document.content)
        if EXPERIMENTS_KEY not in content:
            content = json.loads(json.dumps(content))
            limit_steps(config_in(path, document, (), None).config, content)
        # JSON is YAML.
        (folder / shipped.name).write_text(json.dumps(content, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
