"""Writes a bill of materials in CycloneDX: make_sbom.py WHEEL > FILE; make_sbom.py --check FILE

It lists the package, the vendored files of THIRD_PARTY.md, and what the wheel requires. Run it with the
Python that the wheel is installed in: dependencies then have the versions and licences that are there.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import zipfile
from email.parser import HeaderParser
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any

ROW = re.compile(r"^\| `(eidet/[^`]+)` \| \[(\w+)\]\(([^)]+)\)[^|]*\| ([\d.]+) \| ([\w.-]+) \|", re.MULTILINE)
REQUIREMENT = re.compile(r"^([\w.-]+)(?:\[[\w,-]+\])?([^;]*)(?:; *(.*))?$")


def make_bill(wheel: Path) -> dict[str, Any]:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [one for one in archive.namelist() if one.endswith(".dist-info/METADATA")]
        head = HeaderParser().parsestr(archive.read(name).decode())
        (notice,) = [one for one in archive.namelist() if one.endswith("/licenses/THIRD_PARTY.md")]
        vendored = list_vendored(archive, archive.read(notice).decode())
    own = describe_package(head["Name"], head["Version"], "MIT", "required") | {"type": "library"}
    own["hashes"] = [{"alg": "SHA-256", "content": hashlib.sha256(wheel.read_bytes()).hexdigest()}]
    own["components"] = vendored
    required = list_required(head.get_all("Requires-Dist") or [])
    needed = sorted(one["bom-ref"] for one in required if one["scope"] == "required")
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": own},
        "components": required,
        "dependencies": [{"ref": own["bom-ref"], "dependsOn": needed}],
    }


def list_vendored(archive: zipfile.ZipFile, notice: str) -> list[dict[str, Any]]:
    found = []
    for file, name, address, version, licence in ROW.findall(notice):
        one = {"type": "library", "bom-ref": f"pkg:npm/{name}@{version}", "name": name, "version": version}
        one["purl"] = one["bom-ref"]
        digest = hashlib.sha256(archive.read(file)).hexdigest()
        found.append(
            one
            | {
                "licenses": [{"license": {"id": licence}}],
                "hashes": [{"alg": "SHA-256", "content": digest}],
                "externalReferences": [{"type": "distribution", "url": address}],
                "properties": [{"name": "eidet:file", "value": file}],
            }
        )
    return found


def list_required(lines: list[str]) -> list[dict[str, Any]]:
    """Each package once: required if any line requires it without an extra."""
    found: dict[str, dict[str, Any]] = {}
    for line in lines:
        match = REQUIREMENT.match(line)
        assert match is not None, line
        name, bounds, condition = match.groups()
        scope = "optional" if condition and "extra" in condition else "required"
        known = found.get(name.lower())
        if name.lower() != "eidet" and (known is None or scope == "required"):
            found[name.lower()] = describe_dependency(name, bounds.strip(), scope)
    return [found[name] for name in sorted(found)]


def describe_dependency(name: str, bounds: str, scope: str) -> dict[str, Any]:
    version = licence = None
    try:
        head = metadata(name)
    except PackageNotFoundError:
        pass  # of an extra that is not installed
    else:
        version, licence = head["Version"], find_licence(head)
    one = {"type": "library"} | describe_package(name, version, licence, scope)
    one["properties"] = [{"name": "eidet:bounds", "value": bounds or "any"}]
    return one


def find_licence(head: Any) -> str | None:
    """The licence as the package says it: by expression, in one line, or by classifier."""
    if head["License-Expression"]:
        return str(head["License-Expression"])
    classifiers = head.get_all("Classifier") or ()
    for line in classifiers:
        if line.startswith("License :: OSI Approved :: "):
            return str(line.rpartition(" :: ")[2])
    said = head["License"]
    return said if said and "\n" not in said else None


def describe_package(name: str, version: str | None, licence: str | None, scope: str) -> dict[str, Any]:
    purl = f"pkg:pypi/{name.lower().replace('_', '-')}"
    if version:
        purl += f"@{version}"
    one: dict[str, Any] = {"bom-ref": purl, "name": name, "purl": purl, "scope": scope}
    if version:
        one["version"] = version
    if licence:
        one["licenses"] = [{"license": {"name": licence}}]
    return one


def check_bill(file: Path) -> str:
    """What the schema of CycloneDX objects to; empty if nothing."""
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    return str(JsonStrictValidator(SchemaVersion.V1_6).validate_str(file.read_text()) or "")


if __name__ == "__main__":
    if sys.argv[1] == "--check":
        sys.exit(check_bill(Path(sys.argv[2])) or 0)
    print(json.dumps(make_bill(Path(sys.argv[1])), indent=2))
