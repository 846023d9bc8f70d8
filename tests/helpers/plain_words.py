"""What a message that a person reads must not say, and must: for tests that see thousands of messages."""

from __future__ import annotations

import re
import unicodedata

from fsvm_cli.console import INVISIBLE_CATEGORIES

RAW = re.compile(
    r"Input should|should have|should be a valid|[Tt]uple|\btype=|is no \d|is no <|pydantic|after validation|"
    r"Value error|Assertion|dictionary|instance of|Field required|Extra inputs|\bString\b|\bNone\b|NoneType|\bTrue\b|"
    r"\bFalse\b|unable to|Traceback|numpy|np\.|object at 0x|<class|<lambda|tag:yaml"
)
"""Words of pydantic, of Python and of libraries, which people who write a document need not know."""

REMEDY = re.compile(
    r"; (did you mean|allowed: |it should be |it has |it is |there are: |there is |the first is |write |list |put |"
    r"check |give |indent |leave |rank |name |keep |save |say |choose |take |use |rename |both parts need|then |"
    r"nothing of this kind|kernels that take|methods that take|a document is)|: write |is missing"
)
"""How the part of a message begins that says what to do."""

LONGEST_LINE = 1500


def controls(text: str) -> set[str]:
    """Find what steers a terminal, or has no shape on it."""
    return {each for each in text if each != "\n" and unicodedata.category(each) in INVISIBLE_CATEGORIES}


def unplain(line: str) -> str:
    """Say why a person could not read a line, '' where one can."""
    if found := RAW.search(line):
        return f"words of a library: {found[0]}"
    if steering := controls(line):
        return f"control characters: {steering}"
    if len(line) > LONGEST_LINE:
        return f"{len(line)} characters"
    return ""
