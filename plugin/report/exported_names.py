"""What an export is told beside the ranking, and names of models as parts of paths that never lead out of a folder."""

import re
from dataclasses import dataclass

from podium.printable import printable

UNSAFE = re.compile(r'[<>:"/\\|?*\s]+')
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?|data|unknown|", re.IGNORECASE)
"""Names that Windows or a datastore keeps for itself, and the empty one."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Options of `podium export`; docs/report.md says what they mean."""

    dataset: str | None
    task_id: str
    source_url: str | None
    developer: str
    organization: str


def portable_name(text: str) -> str:
    """Return a name with the characters that a file's name cannot have replaced by `_`."""
    name = UNSAFE.sub("_", printable(text))[:80].strip(". ")
    return f"_{name}" if RESERVED.fullmatch(name) else name


def developer_and_name(model: str, developer: str) -> tuple[str, str]:
    """Return a model's developer, from a name as `meta-llama/Llama-3` or else the given one, and its name in paths."""
    owner, slash, own = model.partition("/")
    return portable_name(owner if slash else developer), portable_name(own if slash else model)
