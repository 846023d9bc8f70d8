"""When the rules of claims were fixed, by the history of configs and results: `make provenance`.

    python .ci/provenance.py           # writes docs/provenance.csv
    python .ci/provenance.py --all     # tells it of every claim, and writes nothing

A claim says `fixed: before` where its rule stood in a config before anybody could know the figure. The rule is what
decides: kind, places, printed number, tolerance; not the words. It dates from the commit since which it stands as it
is, or from the last change of the code of its kind (`docs/rule-changes.yaml`), if that is later. The figure is known
from the first commit of results that has a row about the claim, or the curves and scores of all that it speaks of.
Author dates count, which survive a rebase. What is known from elsewhere is not in the history: a claim may say `after`
where it says `before`.
"""

from __future__ import annotations

import csv
import fnmatch
import functools
import hashlib
import io
import json
import math
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

ROOT = Path(__file__).resolve().parents[1]
TABLE = "docs/provenance.csv"
RULE_CHANGES = "docs/rule-changes.yaml"
COLUMNS = ("experiment", "id", "rule", "fixed_at", "known_at")
WORDS = frozenset({"id", "claim", "where", "note", "fixed", "unstated", "part_of", "nature", "repeats"})
"""Keys of a claim that its verdict by the rule does not depend on."""
NAMING = frozenset({"ranking", "between", "others", "labels", "settings", "higher", "lower"})
"""Keys of a claim whose texts are labels of compared methods."""
ALL_FEATURES = "all features"
TABLES = ("published.csv", "curves.csv", "scores.csv")
"""Of results, the tables that tell a figure."""

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""In C where it can be had: there are hundreds of configs to read, some of which are no valid ones today."""

Key = tuple[str, str]
"""An experiment, and the id of a claim."""
Rules = dict[Key, str]


@dataclass(frozen=True)
class Provenance:
    """When a rule was fixed, and since when the figure is known, as seconds; infinite where it is not known yet.

    Attributes
    ----------
    rule : str
        What stands for the rule, see `fingerprint`.
    fixed_at, known_at : float
    """

    rule: str
    fixed_at: float
    known_at: float

    @property
    def is_before(self) -> bool:
        """Whether the rule was fixed before the figure was known; what came in one commit was not."""
        return self.fixed_at < self.known_at


def fingerprint(claim: Mapping[str, Any], renamed: Mapping[str, str]) -> str:
    """Make a short text that is another one where the rule of a claim is another one.

    Parameters
    ----------
    claim : mapping
        As it stands in a config.
    renamed : mapping of str to str
        Parts of labels by what they were called before: a rule with another name is the same.
    """
    rule = {name: value for name, value in claim.items() if name not in WORDS}
    text = json.dumps(rule, sort_keys=True, default=str)
    for old, new in renamed.items():
        text = text.replace(old, new)
    # A number is the same with and without decimals.
    return hashlib.sha256(json.dumps(json.loads(text, parse_int=float), sort_keys=True).encode()).hexdigest()[:10]


def labels_of(rule: Any) -> set[str]:
    """Find the labels of the compared methods that a claim speaks of, in whichever key."""
    if isinstance(rule, list):
        return set().union(*map(labels_of, rule))
    if not isinstance(rule, dict):
        return set()
    found: set[str] = set()
    for name, value in rule.items():
        if name in NAMING:
            found |= {each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)}
        found |= labels_of(value)
    return found - {ALL_FEATURES}


def claims_compared_by(rule: Any) -> set[str]:
    """Find the ids of the claims of other experiments that a claim of a collection compares."""
    if isinstance(rule, list):
        return set().union(*map(claims_compared_by, rule))
    if not isinstance(rule, dict):
        return set()
    if rule.keys() == {"experiment", "claim"}:
        return {str(rule["claim"])}
    return set().union(*map(claims_compared_by, rule.values()))


def claims_in(configs: Mapping[str, Any]) -> dict[Key, dict[str, Any]]:
    """Find the claims of configs, with those that they take from configs which they extend.

    Parameters
    ----------
    configs : mapping of str to object
        What stands in each, by the name of its file without ending.
    """
    found = {}
    for name in configs:
        for claim in _expected(name, configs, ()):
            fixed = claim.get("fixed", _inherited("fixed", name, configs))
            found[name, str(claim["id"])] = claim | ({"fixed": fixed} if fixed else {})
    return found


def _expected(name: str, configs: Mapping[str, Any], seen: tuple[str, ...]) -> list[dict[str, Any]]:
    config = configs.get(name)
    if not isinstance(config, dict) or name in seen:
        return []
    base = _base(config)
    of_base = _expected(base, configs, (*seen, name)) if base else []
    if "expected" not in config:
        return of_base
    claims: list[dict[str, Any]] = []
    for each in config["expected"] or ():
        if isinstance(each, str):
            claims += [claim for claim in of_base if fnmatch.fnmatchcase(str(claim["id"]), each)]
        elif isinstance(each, dict) and "id" in each:
            claims.append(each)
    return claims


def _inherited(key: str, name: str, configs: Mapping[str, Any]) -> Any:
    config = configs.get(name)
    while isinstance(config, dict) and key not in config:
        config = configs.get(_base(config))
    return config.get(key) if isinstance(config, dict) else None


def _base(config: Mapping[str, Any]) -> str:
    return Path(str(config.get("extends", ""))).stem


def parsed(text: str) -> Any:
    """Read YAML; nothing of what cannot be read."""
    try:
        return yaml.load(text, LOADER)
    except yaml.YAMLError:
        return None


class History:
    """The commits that lead to a checkout, oldest first.

    Parameters
    ----------
    root : Path
        Of the checkout.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.renamed = code_history(root)["renamed"]
        lines = self._git("log", "--topo-order", "--reverse", "--format=%H %at %P").splitlines()
        self.commits = [line.split() for line in lines]
        self._contents: dict[str, str] = {}

    def _git(self, *arguments: str, text: str | None = None) -> str:
        command = ["git", "-C", str(self.root), *arguments]
        return subprocess.run(command, input=text, capture_output=True, encoding="utf-8", check=True).stdout

    def _read(self, objects: Iterable[str]) -> None:
        """Read texts that are not there yet, all by one process."""
        wanted = sorted(set(objects) - self._contents.keys())
        if not wanted:
            return
        command = ["git", "-C", str(self.root), "cat-file", "--batch"]
        answer = subprocess.run(command, input="\n".join(wanted).encode(), capture_output=True, check=True).stdout
        stream = io.BytesIO(answer)
        for name in wanted:
            size = int(stream.readline().split()[2])
            self._contents[name] = stream.read(size).decode("utf-8", errors="replace")
            stream.readline()

    def fixed_since(self) -> tuple[Rules, dict[Key, float]]:
        """Find the rules of the last commit, and since when each stands as it does.

        A claim that another experiment had before, with the same rule, is as old as there.
        """
        trees = self._trees("configs")
        rules_of: dict[str, Rules] = {tree: self._rules(tree) for tree in {*trees.values()} - {""}} | {"": {}}
        since: dict[str, dict[Key, float]] = {}
        for commit, at, *parents in self.commits:
            known = [(rules_of[trees[parent]], since[parent]) for parent in parents]
            same = [parent for parent in parents if trees[parent] == trees[commit]]
            if len(parents) == 1 and same:
                since[commit] = since[parents[0]]
                continue
            elsewhere: dict[tuple[str, str], float] = {}
            for rules, times in known:
                for key, rule in rules.items():
                    pair = key[1], rule
                    elsewhere[pair] = min(elsewhere.get(pair, math.inf), times[key])
            since[commit] = {
                key: max(
                    (times[key] for rules, times in known if rules.get(key) == rule),
                    default=elsewhere.get((key[1], rule), float(at)),
                )
                for key, rule in rules_of[trees[commit]].items()
            }
        last = self.commits[-1][0]
        return rules_of[trees[last]], since[last]

    def _trees(self, folder: str) -> dict[str, str]:
        """Find the object of a folder in each commit; empty where there is none."""
        names = [f"{commit[0]}:{folder}" for commit in self.commits]
        lines = self._git("cat-file", "--batch-check=%(objectname)", text="\n".join(names)).splitlines()
        return {
            commit[0]: "" if line.endswith("missing") else line
            for commit, line in zip(self.commits, lines, strict=True)
        }

    def _rules(self, tree: str) -> Rules:
        files = [line.split(maxsplit=3) for line in self._git("ls-tree", tree).splitlines()]
        blobs = {Path(name).stem: blob for _, _, blob, name in files if name.endswith(".yaml")}
        self._read(blobs.values())
        configs = {name: self._parsed(blob) for name, blob in blobs.items()}
        return {key: fingerprint(claim, self.renamed) for key, claim in claims_in(configs).items()}

    @functools.cache  # noqa: B019 - one history is made
    def _parsed(self, blob: str) -> Any:
        return parsed(self._contents[blob])

    def known_since(self) -> dict[tuple[str, ...], float]:
        """Find the first results about what: (experiment,), (experiment, label), or ("", claim)."""
        text = self._git("log", "--no-merges", "--raw", "--no-abbrev", "--no-renames", "--format=@%at", "--", "results")
        changes = []
        at = math.inf
        for line in text.splitlines():
            if line.startswith("@"):
                at = float(line[1:])
            elif line:
                *_, blob, status, path = line.split(maxsplit=5)
                parts = Path(path).parts
                if status != "D" and len(parts) == 3:
                    changes.append((at, blob, parts[1], parts[2]))
        self._read(blob for _, blob, _, name in changes if name in TABLES)
        first: dict[tuple[str, ...], float] = defaultdict(lambda: math.inf)
        for at, blob, experiment, name in changes:
            for what in {(experiment,), *(self._told_by(blob, experiment) if name in TABLES else ())}:
                first[what] = min(first[what], at)
        return first

    def _told_by(self, blob: str, experiment: str) -> Iterator[tuple[str, ...]]:
        for row in csv.DictReader(io.StringIO(self._contents[blob])):
            if "id" in row:
                yield "", str(row["id"])
            elif "ranking" in row:
                yield experiment, str(row["ranking"])


def provenance_of(root: Path) -> dict[Key, Provenance]:
    """Derive from the history of a checkout when each rule of its last commit was fixed, and since when it is known."""
    history = History(root)
    rules, since = history.fixed_since()
    known = history.known_since()
    claims = claims_now(root)
    found = {}
    for key, rule in rules.items():
        if key not in claims or fingerprint(claims[key], history.renamed) != rule:
            continue  # not committed yet
        experiment, claim = key
        kind = str(claims[key].get("kind"))
        figures = [(experiment, label) for label in labels_of(claims[key])]
        figures += [("", compared) for compared in claims_compared_by(claims[key])]
        by_results = max(known.get(figure, math.inf) for figure in figures or [(experiment,)])
        of_code = [_changed_at(change, claim, kind) for change in code_history(root)["changes"]]
        # What one setting gives does not tell the range of all of them.
        known_at = by_results if kind == "within-range" else min(by_results, known.get(("", claim), math.inf))
        found[key] = Provenance(rule, max([since[key], *of_code]), known_at)
    return found


@functools.cache
def code_history(root: Path) -> dict[str, Any]:
    """Read which changes of the code changed rules, and what was renamed."""
    content: dict[str, Any] = parsed((root / RULE_CHANGES).read_text(encoding="utf-8"))
    return content


def _changed_at(change: Mapping[str, Any], claim: str, kind: str) -> float:
    """Give the time of a change of the code, if it is about a claim of this kind."""
    is_left_out = any(fnmatch.fnmatchcase(claim, pattern) for pattern in change.get("except", ()))
    return datetime.fromisoformat(change["at"]).timestamp() if kind in change["kinds"] and not is_left_out else 0.0


def claims_now(root: Path) -> dict[Key, dict[str, Any]]:
    """Find the claims of the configs of a checkout, as they lie there."""
    paths = sorted((root / "configs").glob("*.yaml"))
    return claims_in({path.stem: parsed(path.read_text(encoding="utf-8")) for path in paths})


def has_history(root: Path) -> bool:
    """Whether a folder is a checkout with all of its history; an export has none, and a shallow clone not all."""
    command = ["git", "-C", str(root), "rev-parse", "--is-shallow-repository", "--show-toplevel"]
    try:
        answer = subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout.split("\n")
    except (OSError, subprocess.CalledProcessError):
        return False
    return answer[0] == "false" and Path(answer[1]).resolve() == root.resolve()


def rows_of(root: Path) -> list[tuple[str, ...]]:
    """List the claims that say `before`, with what the history says of each; the rows of the table."""
    derived, claims = provenance_of(root), claims_now(root)
    said = sorted(key for key, claim in claims.items() if claim.get("fixed") == "before")
    return [(*key, each.rule, _date(each.fixed_at), _date(each.known_at)) for key in said if (each := derived.get(key))]


def complaints_about(root: Path, rows: Sequence[Sequence[str]]) -> list[str]:
    """Say of which claims a config says `before` where the table, of which these are the rows, does not."""
    table = {(row[0], row[1]): row[2:] for row in rows}
    renamed, complaints = code_history(root)["renamed"], []
    for key, claim in claims_now(root).items():
        if claim.get("fixed") != "before":
            continue
        name = ": ".join(key)
        rule, fixed_at, known_at = table.get(key, ("", "", ""))
        if rule != fingerprint(claim, renamed):
            complaints.append(f"{name}: its rule is not in {TABLE}; commit the config, then run: make provenance")
        elif known_at and fixed_at >= known_at:
            complaints.append(
                f"{name}: its rule dates from {fixed_at}, its figure from {known_at}; write 'fixed: after'"
            )
    return complaints


def read_rows(root: Path) -> list[tuple[str, ...]]:
    """Read the table."""
    with (root / TABLE).open(encoding="utf-8", newline="") as file:
        return [tuple(row) for row in list(csv.reader(file))[1:]]


def _date(seconds: float) -> str:
    return "" if math.isinf(seconds) else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def main() -> None:
    """Write the table, and tell which claims say `before` against it; exit code 1 where one does."""
    if not has_history(ROOT):
        sys.exit("provenance: this is no git checkout with all of its history; clone it without --depth")
    if "--all" in sys.argv[1:]:
        claims = claims_now(ROOT)
        for key, each in provenance_of(ROOT).items():
            history = "before" if each.is_before else "after"
            print(*key, claims[key].get("fixed"), history, _date(each.fixed_at), _date(each.known_at) or "-")
        return
    rows = rows_of(ROOT)
    with (ROOT / TABLE).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([COLUMNS, *rows])
    print(f"provenance: {len(rows)} claims that say 'before' in {TABLE}")
    if complaints := complaints_about(ROOT, rows):
        print("\n".join(complaints))
        sys.exit(1)


if __name__ == "__main__":
    main()
