"""Write the bill of materials of a release beside its wheel: `make dist`.

    python .ci/sbom.py dist/fsvm_cli-0.2.0-py3-none-any.whl

The wheel carries no code but ours. The bill names the packages that it is tested with, each with its version and the
hashes of its files, as `requirements.lock` has them; the same lock and wheel give the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from pathlib import Path

from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, XsUri
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

LOCK = Path(__file__).resolve().parents[1] / "requirements.lock"
ENTRY = re.compile(r"^(?P<name>[a-z0-9.-]+)==(?P<version>[^ \n]+)(?P<rest>.*\n(?:    --hash.*\n)*)", re.MULTILINE)


def bill(lock: str, wheel: Path) -> str:
    """Make the bill of a wheel, as CycloneDX JSON, from the text of a lock with hashes."""
    name, version = wheel.name.split("-")[:2]
    bom = Bom()
    digest = HashType(alg=HashAlgorithm.SHA_256, content=hashlib.sha256(wheel.read_bytes()).hexdigest())
    ours = _component(name.replace("_", "-"), version, ComponentType.APPLICATION)
    ours.hashes.add(digest)
    bom.metadata.component = ours
    components = []
    for entry in ENTRY.finditer(lock):
        component = _component(entry["name"], entry["version"], ComponentType.LIBRARY)
        # Each file of a release has a hash of its own, so that they are references, not hashes of the component.
        files = re.findall(r"sha256:([0-9a-f]{64})", entry["rest"])
        component.external_references.update(
            ExternalReference(
                type=ExternalReferenceType.DISTRIBUTION,
                url=XsUri(f"{component.purl}#{digest}"),
                hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)],
            )
            for digest in files
        )
        components.append(component)
    bom.components.update(components)
    bom.register_dependency(ours, components)
    content = json.loads(JsonV1Dot6(bom).output_as_string())
    # What would differ between two bills of one wheel.
    del content["serialNumber"], content["metadata"]["timestamp"]
    return json.dumps(content, indent=1, sort_keys=True) + "\n"


def _component(name: str, version: str, kind: ComponentType) -> Component:
    purl = PackageURL("pypi", None, name, version)
    return Component(name=name, version=version, type=kind, purl=purl, bom_ref=str(purl))


def main() -> None:
    """Write the bill of the wheel that is named, beside it."""
    wheel = Path(sys.argv[1])
    name, version = wheel.name.split("-")[:2]
    path = wheel.with_name(f"{name}-{version}.cdx.json")
    path.write_text(bill(LOCK.read_text(encoding="utf-8"), wheel), encoding="utf-8")
    print(path)


if __name__ == "__main__":
    main()
