"""`make fuzz`: mutated inputs for every reader, method and extractor, for configs, `--set` and data cards."""

from __future__ import annotations

import argparse
import functools
import os
import secrets
import sys
import time
from pathlib import Path

from tests.fuzz.campaign import Campaign, n_faults, run
from tests.fuzz.subjects import subjects, subjects_like

OUTCOMES = ("taken", "refused", "fault")


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--number", type=int, default=100_000, help="of inputs")
    parser.add_argument("--seed", type=int, default=None, help="drawn, and printed, where left out")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"), help="for the inputs that lead to faults")
    parser.add_argument(
        "--only", default="*", metavar="PATTERN", help="subjects, as of file names: 'config', 'reader*'"
    )
    parser.add_argument("--repeat", nargs=2, metavar=("SUBJECT", "FILE"), help="take one input again, faults raised")
    options = parser.parse_args()
    if options.repeat:
        subjects()[options.repeat[0]].take(Path(options.repeat[1]))
        say("taken")
        return 0
    seed = secrets.randbelow(10**9) if options.seed is None else options.seed
    folder, jobs = options.folder, options.jobs
    say(f"{options.number:,} inputs, seed {seed}, {jobs} processes; what leads to faults is kept in {folder}")
    began = time.monotonic()
    chosen = functools.partial(subjects_like, options.only)
    if not chosen():
        parser.error(f"no subject is called like '{options.only}'; there are: {', '.join(subjects())}")
    counts = run(Campaign(chosen, options.number, seed, folder, jobs), say)
    for name in chosen():
        say("".join([f"  {name:28}", *(f"{counts[name, outcome]:8,} {outcome}" for outcome in OUTCOMES)]))
    say(f"{counts.total():,} inputs in {time.monotonic() - began:.0f} s, {n_faults(counts)} faults (seed {seed})")
    return 1 if n_faults(counts) else 0


if __name__ == "__main__":
    sys.exit(main())
