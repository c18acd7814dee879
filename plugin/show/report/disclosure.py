"""What a reader of a ranking needs to know of how it was made, as a report and as JSON.

Everything is from the ranking and its provenance. What they do not say is listed as not known, once
and by name.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from podium.diagnosis.audit_record import Audit
from podium.documents import Document, View, register_view
from podium.format_version import FORMAT_VERSION
from podium.notices.notice import Notice
from podium.notices.notice_text import notice_text, notices_to_json
from podium.rankers.ranking import Ranking
from podium.tables import Report, Section, Table
from podium.text import text_of
from podium.wording import quantity, some

MOST_HASHED = 500_000_000
"""Larger files are not hashed, in bytes."""
RUN_FIELDS = (
    "task",
    "task_version",
    "revision",
    "time",
    "shots",
    "system_instruction",
    "chat_template",
    "prompt",
    "generation",
    "model_arguments",
    "epochs",
    "limit",
)
"""Facts of a run that are disclosed, by their names in a run's record."""
NEEDED_OF_MODELS = ("task_version", "revision", "generation")
"""Facts of runs that are named if no run has them."""
NEEDED_OF_JUDGES = ("model", "prompt", "settings")
"""Facts of judges that are named if a judge lacks them."""
TITLES = {
    "prompt": "hash of its prompt",
    "settings": "sampling",
    "model": "model",
    "task_version": "version of the task",
    "revision": "revision of the code",
    "generation": "sampling of the models",
}
"""What a fact is called in the list of what is not known."""


@dataclass(frozen=True, slots=True)
class Disclosure(Document):
    """How a ranking was made.

    Attributes:
        models: per model, what is known of its runs.
        judges: per judge, what is known of it.
        counts: per ranking, the numbers of items, judgments and battles, and of lost ones.
        failures: what was not ranked or has lost samples, a sentence each.
        warnings: the warnings of the rankings.
        options: the options of reading and ranking, with the seed.
        versions: versions of the packages.
        sources: the files, with the SHA-256 of each that could be read.
        hosts: the programs that ran the evals, with the version of each; None if a run by it does
            not record its version.
        unknown: what a reader would need, and nothing says.
        audit: the probes of each ranking; None if only the ranking is known. They are in the JSON
            and not in the tables.
    """

    models: Mapping[str, Sequence[Mapping[str, Any]]]
    judges: Mapping[str, Mapping[str, Any]]
    counts: Mapping[str, Mapping[str, Any]]
    failures: tuple[str, ...]
    warnings: tuple[Notice, ...]
    options: Mapping[str, Any]
    versions: Mapping[str, str]
    sources: Mapping[str, str | None]
    hosts: tuple[tuple[str, str | None], ...]
    unknown: tuple[str, ...]
    audit: Audit | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document as plain Python values.

        The keys are `podium` (the format version), `disclosure` and, if there is an audit,
        `audits`.
        """
        audits = {}
        if self.audit is not None:
            audits["audits"] = [board.to_dict() for board in self.audit.boards]
        return {
            "podium": FORMAT_VERSION,
            "disclosure": {
                "models": {name: list(runs) for name, runs in self.models.items()},
                "judges": dict(self.judges),
                "counts": dict(self.counts),
                "failures": list(self.failures),
                "warnings": notices_to_json(self.warnings),
                "seed": self.options.get("seed"),
                "options": dict(self.options),
                "versions": dict(self.versions),
                "sources": dict(self.sources),
                "hosts": [{"host": host, "version": version} for host, version in self.hosts],
                "not_known": list(self.unknown),
            },
            **audits,
        }


def disclose(ranking: Ranking, audit: Audit | None = None) -> Disclosure:
    """Collect what a ranking and its provenance say of how it was made.

    The source files are read, for their hashes. Models of runs are included even if the ranking
    lacks them.

    Args:
        ranking: the ranking.
        audit: its audit, for the JSON; None to leave it out.
    """
    provenance = ranking.provenance
    runs = provenance.get("runs", ())
    models: dict[str, list[dict[str, Any]]] = {}
    for standings in ranking.standings:
        for entry in standings.entries:
            models[entry.model] = []
    for run in runs:
        facts = {name: run[name] for name in RUN_FIELDS if name in run}
        models.setdefault(run["model"], []).append(facts)
    records = provenance.get("judge_records", {})
    judges = {name: dict(records.get(name, {})) for name in provenance.get("judges", ())}
    counts = {}
    for each in ranking.standings:
        name = each.ranker if each.slice is None else f"{each.ranker} [{each.slice}]"
        counts[name] = each.counts.to_dict()
    return Disclosure(
        models=models,
        judges=judges,
        counts=counts,
        failures=tuple(_failures_of(ranking, runs)),
        warnings=tuple(
            dict.fromkeys(each for standings in ranking.standings for each in standings.warnings)
        ),
        options=provenance.get("options", {}),
        versions=provenance.get("versions", {}),
        sources={source: hash_of_file(source) for source in provenance.get("sources", ())},
        hosts=tuple(_hosts_of(runs)),
        unknown=tuple(_unknown_facts(runs, judges, has_scores=("metrics" in provenance))),
        audit=audit,
    )


def hash_of_file(source: str) -> str | None:
    """Return the SHA-256 of a local file as hexadecimal digits.

    The result is None for other sources, for files of more than `MOST_HASHED` bytes, and for files
    that cannot be read.
    """
    path = Path(source)
    try:
        if not path.is_file() or path.stat().st_size > MOST_HASHED:
            return None
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def _host_of(run: Mapping[str, Any]) -> str:
    """Return which host recorded a run, by the name of its file: `Inspect`, `lm-eval`, or empty."""
    path = Path(run.get("source", ""))
    if path.suffix == ".eval":
        return "Inspect"
    return "lm-eval" if path.name.startswith(("samples_", "results_")) else ""


def _hosts_of(runs: Sequence[Mapping[str, Any]]) -> list[tuple[str, str | None]]:
    """Return the programs that ran the evals, each with its version or None.

    Each pair of program and version is listed once, in the order of the runs. Runs by unknown
    programs are left out.
    """
    hosts = []
    for run in runs:
        host = _host_of(run)
        if host:
            hosts.append((host, run.get("host_version")))
    return list(dict.fromkeys(hosts))


def _failures_of(ranking: Ranking, runs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield clauses on what was not ranked, and on samples that were left out of runs."""
    yield from (f"not ranked: {failure}" for failure in ranking.failures)
    for run in runs:
        lost = []
        for name in ("failed", "invalidated"):
            number = run.get(name)
            if isinstance(number, int) and number:
                lost.append(f"{number:,} {name}")
        if lost:
            yield f"{run['model']} on {run['task']}: samples {' and '.join(lost)}"


def _unknown_facts(
    runs: Sequence[Mapping[str, Any]], judges: Mapping[str, Mapping[str, Any]], *, has_scores: bool
) -> Iterator[str]:
    """Yield clauses on what a reader would need and no record says.

    A fact of runs is named only if no run has it, but the version of a host if any of its runs
    lacks it. Human judges are left out.

    Args:
        runs: the recorded runs of the models.
        judges: what is known of each judge.
        has_scores: whether scores without a judge were ranked.
    """
    if not runs:
        yield "how the models were run (versions, sampling, prompts): no file records runs"
    if runs and not any(map(_host_of, runs)):
        yield "what ran the evals"
    for host, version in _hosts_of(runs):
        if version is None:
            yield f"the version of {host} that ran the evals"
    facts_of_runs = set().union(*runs)
    for name in NEEDED_OF_MODELS:
        if runs and name not in facts_of_runs:
            yield f"{TITLES[name]}, of all runs"
    if not judges and not has_scores:
        yield "who judged: no row names a judge"
    for judge, facts in judges.items():
        missing = [TITLES[name] for name in NEEDED_OF_JUDGES if not facts.get(name)]
        if missing and facts.get("kind") != "human":
            yield f"of the judge {judge}: {', '.join(missing)}"


def disclosure_reports(disclosure: Disclosure) -> tuple[Report, ...]:
    """Build one report with a table per subject, and notes on what is lost or not known.

    The report is the only one in the tuple. Tables without rows are left out, and so is the audit.
    """
    tables = [
        _table_of("Models", {name: _runs_text(runs) for name, runs in disclosure.models.items()}),
        _table_of(
            "Judges", {name: _facts_text(facts) for name, facts in disclosure.judges.items()}
        ),
        _table_of(
            "Counts", {name: _facts_text(facts) for name, facts in disclosure.counts.items()}
        ),
        _table_of("Options and seed", dict(_options_as_text(disclosure.options))),
        _table_of("Versions", disclosure.versions),
        _table_of(
            "Files (SHA-256)",
            {name: digest or "not hashed" for name, digest in disclosure.sources.items()},
        ),
    ]
    host_texts = []
    for host, version in disclosure.hosts:
        version_text = version or "(version not known)"
        host_texts.append(f"{host} {version_text}")
    hosts = (f"Run by {', '.join(host_texts)}.",) if host_texts else ()
    lost = tuple(f"Lost or left out: {failure}" for failure in disclosure.failures)
    warned = tuple(
        f"{notice.severity.capitalize()}: {notice_text(notice)}" for notice in disclosure.warnings
    )
    unknown = tuple(f"Not known: {fact}." for fact in disclosure.unknown)
    section = Section(
        name="disclosure",
        title="",
        tables=tuple(table for table in tables if table.rows),
        notes=(*hosts, *lost, *warned, *unknown),
    )
    return (Report("disclosure", sections=(section,)),)


def _table_of(title: str, rows: Mapping[str, str]) -> Table:
    """Build a table with a row per name and its text."""
    cells = tuple((name, text) for name, text in rows.items())
    return Table(title=title, header=("", "as recorded"), rows=cells, align="ll", words=True)


def _runs_text(runs: Sequence[Mapping[str, Any]]) -> str:
    """Write what is known of the runs of a model; `not recorded` without runs.

    Equal runs are written once, and at most five different ones are written.
    """
    if not runs:
        return "not recorded"
    texts = list(dict.fromkeys(map(_facts_text, runs)))
    number = f"{quantity(len(runs), 'run')}: " if len(runs) > 1 else ""
    return number + some(texts, separator="; ", most=5)


def _facts_text(facts: Mapping[str, Any]) -> str:
    """Write facts as one text; `not recorded` if no fact is known.

    A fact is its name and value, such as `shots 5`. Facts that are unknown, empty, 0 or False are
    left out.
    """
    texts_of_facts = []
    for name, value in facts.items():
        if value not in (None, "", 0, False) and value != [] and value != {}:
            texts_of_facts.append(f"{name.replace('_', ' ')} {_fact_text(value)}")
    return ", ".join(texts_of_facts) or "not recorded"


def _fact_text(value: Any) -> str:
    """Write the value of a fact.

    A list of pairs is written as `name=value`, separated by spaces; whole numbers get commas. Other
    values are written by `text_of`, empty ones as an empty text.
    """
    if isinstance(value, list | tuple) and all(
        isinstance(pair, list | tuple) and len(pair) == 2 for pair in value
    ):
        return " ".join(f"{name}={setting}" for name, setting in value)
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return text_of(value) or ""


def _options_as_text(options: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield name and value, as texts, of each option that is set.

    Options that are None, False or empty are left out, but the seed is yielded in any case. In
    names, blanks take the place of underscores; values other than texts are JSON.
    """
    for name, value in options.items():
        is_set = value not in (None, False) and value != [] and value != {}
        if name == "seed" or is_set:
            text = value if isinstance(value, str) else json.dumps(value, default=str)
            yield name.replace("_", " "), text


register_view(Disclosure, View(disclosure_reports))
