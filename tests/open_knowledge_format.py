"""What a note in the Open Knowledge Format 0.2 must be, written down from its specification and
independent of zkchat: https://github.com/GoogleCloudPlatform/knowledge-catalog/blob/main/okf/SPEC.md

The section of each rule is beside it. The format has no schema file of its own.
"""

import re
from datetime import datetime
from typing import Any

import yaml

STATUSES = ("draft", "stable", "deprecated")
ACTOR = re.compile(r"human:\S+|process:\S+|[^\s/:]+/\S+")
FOOTNOTE = re.compile(r"\[\^([^\s\[\]]+)\]")


def problems(text: str) -> list[str]:
    """Everything in which a note deviates from the format; empty if it conforms."""
    if not text.startswith("---\n") or "\n---\n" not in text:
        return ["§4: no front matter"]
    front, body = text.removeprefix("---\n").split("\n---\n", 1)
    fields = yaml.safe_load(front)
    found = []
    if not isinstance(fields, dict) or not isinstance(fields.get("type"), str):
        return ["§4.1: no type"]
    if fields.get("status", "stable") not in STATUSES:
        found.append(f"§5.4: status {fields['status']}")
    found += [f"§5.1: {each}" for each in source_problems(fields, body)]
    found += [f"§5.2: {each}" for each in verification_problems(fields)]
    if "stale_after" in fields and not is_time(fields["stale_after"]):
        found.append("§5.5: stale_after")
    return found


def source_problems(fields: dict[str, Any], body: str) -> list[str]:
    found = []
    sources = fields.get("sources", [])
    ids = [source.get("id") for source in sources]
    if len(set(ids)) < len(ids):
        found.append("two sources with one id")
    for source in sources:
        if not isinstance(source.get("resource"), str) or not source["resource"]:
            found.append("a source without resource")
        if "last_modified" in source and not is_time(source["last_modified"]):
            found.append("last_modified")
    cited = {label for label in FOOTNOTE.findall(body) if not label.startswith("missing-")}
    found += [f"[^{label}] is no source" for label in sorted(cited - set(ids))]
    return found


def verification_problems(fields: dict[str, Any]) -> list[str]:
    found = []
    events = fields.get("verified", [])
    events = [events] if isinstance(events, dict) else events
    generated = [fields["generated"]] if "generated" in fields else []
    for event in [*generated, *events]:
        if not ACTOR.fullmatch(str(event.get("by"))):
            found.append(f"actor {event.get('by')}")
        if not is_time(event.get("at")):
            found.append(f"time {event.get('at')}")
    return found


def is_time(value: object) -> bool:
    """§5, revision of August 2026: a datetime with an offset. YAML may have read it already."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    return isinstance(value, datetime) and value.tzinfo is not None
