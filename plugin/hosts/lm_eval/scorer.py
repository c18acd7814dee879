"""The judging filter as a scorer of lm-eval 0.5, which judges all documents at once and gives the same numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lm_eval.api.registry import register_scorer
from lm_eval.scorers import GenScorer, ScoredDoc

from podium.hosts.lm_eval import metrics
from podium.hosts.lm_eval.filter import JudgeFilter

NAME = "podium_judge"
"""For `type: !function podium.hosts.lm_eval.scorer.NAME`, which is the name and imports this module."""


@register_scorer(NAME)
@dataclass(kw_only=True)
class JudgeScorer(GenScorer):
    """Let a judge compare every response with the opponents'; rank this run's model among them.

    Attributes:
        asked: arguments of `podium.hosts.lm_eval.filter.JudgeFilter`.
        rankers: options of each, by the name of its metric.
    """

    asked: dict[str, Any] = field(default_factory=dict)
    rankers: dict[str, dict[str, Any]] = field(default_factory=lambda: {name: {} for name in metrics.RATED})

    @classmethod
    def from_dict(cls, cfg: Any, *, output_type: str | None = None, **asked: Any) -> "JudgeScorer":  # noqa: ARG003
        """Build the scorer as a task's YAML says it; what is wrong in it is found before the model is asked.

        Raises:
            UsageError: an unknown option or value, or a secret among the arguments.
        """
        rankers = {name: dict(options or {}) for name, options in (asked.pop("rankers", None) or {}).items()}
        JudgeFilter(**asked)
        name = cfg.get("name", "none")
        given = {"rankers": rankers} if rankers else {}
        return cls(name=name, filter=cls._build_filter(name, cfg), metrics=[], asked=asked, **given)

    def score_instances(self, instances: Mapping[int, list[Any]]) -> dict[int, ScoredDoc]:
        """Judge all documents at once; the verdicts stand in `filtered_resps`."""
        first = {doc_id: rows[0] for doc_id, rows in instances.items()}
        responses = [instance.filtered_resps[self.name] for instance in first.values()]
        kept = JudgeFilter(**self.asked).apply(responses, [instance.doc for instance in first.values()])
        for instance, text in zip(first.values(), kept, strict=True):
            instance.filtered_resps[self.name] = [text]
        return {doc_id: ScoredDoc(doc_id, given.target, self._scores(given)) for doc_id, given in first.items()}

    def _scores(self, instance: Any) -> dict[str, list[Any]]:
        kept = instance.filtered_resps[self.name]
        ratings = {name: [metrics.earned_credit(predictions=kept, **more)] for name, more in self.rankers.items()}
        return ratings | {name: [count(predictions=kept)] for name, (count, _) in metrics.COUNTS.items()}

    def aggregate(
        self,
        reduced_docs: Mapping[int, Mapping[str, Any]],
        bootstrap_iters: int | None = None,  # noqa: ARG002
        aggregation_overrides: Mapping[str, Any] | None = None,  # noqa: ARG002
    ) -> tuple[dict[str, Any], int]:
        """Return the figures of all documents, by `metric,scorer`, and the number of documents."""
        figures: dict[str, Any] = {}
        for name in [*self.rankers, *metrics.COUNTS]:
            values = [scores[name] for scores in reduced_docs.values()]
            error = getattr(metrics, f"{name}_stderr", None)
            figures[f"{name},{self.name}"] = getattr(metrics, name, metrics.total)(values)
            figures[f"{name}_stderr,{self.name}"] = error(values) if error else metrics.NO_ERROR
        return figures, len(reduced_docs)

    @property
    def higher_is_better(self) -> dict[str, bool]:
        """Which way each metric goes."""
        return dict.fromkeys(self.rankers, True) | {name: higher for name, (_, higher) in metrics.COUNTS.items()}
