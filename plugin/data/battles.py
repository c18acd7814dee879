"""Battles: a table with one row per compared pair of responses.

Model a and model b are the models in the columns `model_a` and `model_b`. The credit is what model
a earned: 1 for a win, 0.5 for a tie, 0 for a loss.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from podium.comparability.responses import ResponseFinding
from podium.data.counting.battle_frame import BattleFrame
from podium.data.counting.grades import Grades, lacks_score
from podium.data.counting.relations import (
    CRITERION,
    HARD_CREDIT,
    IDENTICAL,
    UNNAMED_JUDGE,
)
from podium.data.counting.verdicts import FirstShown, Tally, Verdicts
from podium.data.counts import Counts
from podium.data.ladder import Ladder
from podium.data.listed_values import is_list, values_in_cell
from podium.data.measure import Measure
from podium.data.tasks_of_items import TaskFacts
from podium.data.times import cells_by_period, split_name_of_periods
from podium.distinct_values import distinct_values
from podium.documents import chart_of_result, html_of_result
from podium.errors import DataError, UsageError
from podium.notices.notice import Notice
from podium.question_finding import QuestionFinding
from podium.run_record import RunRecord
from podium.scorers.judge_names import short_judge_names
from podium.scorers.judge_record import JudgeRecord
from podium.text import as_text
from podium.wording import group_noun, quantity

if TYPE_CHECKING:
    import pandas as pd


COLUMNS = {
    "item": "instruction id; without it each row is its own item",
    "model_a": "model",
    "model_b": "model",
    "credit": "what model_a earned, in [0, 1]; empty = unparsed",
    "hard_credit": "if credit is graded by probabilities: what model_a earned by the parsed "
    "verdict, 1, 0.5 or 0",
    "margin": "judge score of a minus that of b",
    "score_a": "pointwise score of a",
    "score_b": "pointwise score of b",
    "order": "ab or ba (whose response was shown first), or merged",
    "judge": "judge identity",
    "voter": "which human voted, if the judge is a population of humans",
    "metric": "what pointwise scores measure, of an eval with several metrics",
    "jury": "a name for judges whose battles are ranked together: they took turns, or all judged "
    "every battle",
    "jury_rule": "of a jury whose judges all judged every battle: how their verdicts are merged, "
    "mean or majority",
    "jury_quorum": "of such a jury: fewest judges that must be readable; empty = more than half",
    "repeat": "repetition by the same judge",
    "response": "which of the models' responses to the item, where they gave several; "
    "empty = the first",
    "human": "what model_a earned from humans, in [0, 1]",
    "category": "slice label",
    "length_a": "length of a's response, characters",
    "length_b": "length of b's response, characters",
    "weight": "default 1",
    "reason": "why credit is empty",
    "identical": "whether both responses are the same text: a tie that no judge was asked about",
    "swap": "how the two orders of a merged battle agree: same, half, flip, one-sided or unparsed",
}
"""The columns of the battles table, in their written order. Any other column is kept.

Besides its entry here, a new column needs what fits it of the following (paths are from `plugin/`,
except `scorers/` and `rankers/`):

- Its type: `NUMBERS` or `TEXTS` in `data/reading/table.py`; `_typed_columns` there for any other
  type, and `_battle_rules` for values that are errors (on Spark, `data/reading/on_spark.py`). Texts
  that repeat are in `CATEGORICAL` of `data/counting/verdicts.py`.
- Its value in a battle that is merged from two orders: `_merged_value` in
  `data/counting/relations.py`, for example by an entry in `COLUMNS_KNOWN_ONCE`. Without a rule it
  is empty if the two judgments differ. Its value in a verdict of a jury: `_figures` in
  `data/jury_verdicts.py`. Without a rule it is that of the first judge.
- If it is about model_a alone, or one of two columns `_a` and `_b`, its value with exchanged
  models: `_turned_value` in `data/counting/relations.py`, `SIDES` and `_with_sorted_sides` in
  `data/jury_verdicts.py`, `SUM_OF_BOTH_MODELS` and `SIDE_COLUMNS` in `rankers/fit/coded.py`.
- If it tells judgments on one item and pair apart: `JUDGMENT_KEYS` in `data/counting/relations.py`
  (and `CODED_COLUMNS` and `_ranges_of_codes` in `data/counting/verdicts.py` for names, and the
  lists of columns in `sided_query` and `cells_query` of `relations.py`), `_identity_columns` in
  `data/reading/joined_tables.py`, `SAME_TRIAL` in `data/formats/score_pairs.py`, `CELL` in
  `data/reading/units.py`, and `keys` in `_compared_rows` of `data/reading/category_ids.py`.
- If it is text that describes neither the question nor the responses: `no_text` in
  `_compared_rows`.
- If tournaments write it. In Inspect: `build_verdict_row` in `scorers/judging.py` for a fact of a
  judgment; for one of a battle, fields of `BattleMetadata` and `BattleVerdict` in
  `hosts/inspect_ai/logs/podium_entries.py`, and `REPEATED_FIELDS` in
  `hosts/inspect_ai/judging/scorers.py`; for one of a whole log,
  `hosts/inspect_ai/logs/judgment_rows.py`. In lm-eval: `BATTLE_DETAILS` or `MERGED_VERDICT_FIELDS`
  in `data/formats/lm_eval_judged.py`.
- Its description in `docs/verdicts.md`.
"""
VOTERS = "voters"
"""Name of the judge of votes by many humans, whose ids are in the column `voter`."""
SOURCES = ("judge", "metric")
"""Columns that name the source of a row: the judge of its verdict, or the metric of its scores."""
REPLIES = ("reply", "raw_completion", "preference_raw_completion", "judgment")
"""Columns of other tools that hold the text of a judge's reply. Rows in which the texts differ are
different verdicts, not copies."""
MOST_SLICES = 100
"""Largest number of values that a column of `Battles.slices` may have."""
LARGEST = 1e100
"""Largest absolute value of a number in the table. Larger ones could overflow in products."""


Rows: TypeAlias = Verdicts | BattleFrame
"""Battles in a database (`Verdicts`) or in memory (`BattleFrame`), with the same interface."""


def source_column(columns: Iterable[str]) -> str | None:
    """Return the column of `SOURCES` that a table has, `judge` first; None if it has neither."""
    column_names = {*columns}
    return next((name for name in SOURCES if name in column_names), None)


def criterion_columns(names: Iterable[object]) -> list[str]:
    """Return the names of columns that hold the margin on one criterion, sorted."""
    return sorted(name for name in names if isinstance(name, str) and name.startswith(CRITERION))


@dataclass(frozen=True, slots=True)
class SwapReport:
    """Numbers of the battles whose responses were shown in both orders, by how the verdicts agree.

    Attributes:
        same: both orders have the same winner, or both are ties.
        half: one order is a tie, the other is not.
        flip: the two orders have different winners.
        one_sided: only one of the two verdicts was parsed.
        unparsed: neither verdict was parsed.
    """

    same: int
    half: int
    flip: int
    one_sided: int
    unparsed: int

    @property
    def readable(self) -> int:
        """Number of battles of which both verdicts were parsed: the denominator of the shares."""
        return self.same + self.half + self.flip

    def shares(self) -> dict[str, float]:
        """Return the shares of `same`, `half` and `flip` among the readable battles.

        They are NaN if no battle is readable.
        """
        numbers = {"same": self.same, "half": self.half, "flip": self.flip}
        if not self.readable:
            return dict.fromkeys(numbers, math.nan)
        return {name: number / self.readable for name, number in numbers.items()}


@dataclass(frozen=True)
class Battles:
    """Battles of one or more judges, with everything known about each.

    Attributes:
        rows: the battles. They are in a database after reading, and in memory if they are a part
            of other battles.
        missing: number of battles that should exist and have no row; None if unknown.
        notes: warnings made while reading and merging.
        sources: the files that were read.
        reading: the options of reading that differ from their defaults, by name.
        lost: notes on parts of the sources that could not be read or compared. They are also among
            `notes`.
        copies: number of verdicts that were left out because another file has them, too.
        judge_records: what is known of judges, by the text in the column `judge`.
        measures: what is known of the metrics of a host's eval.
        apart: a column whose values are ranked separately unless an option says otherwise; None if
            all battles are ranked together.
        answer: the finding of a tournament that stops by itself (see
            `podium.tournaments.decisions.TournamentAnswer`); None if there is none.
        ladder: ratings on whose scale a tournament placed newcomers; None if there are none.
        votes: the battles that humans judged, whether or not a judge did; None if no human labels
            were added.
        default_ranker: name of the ranker that is used unless the user names one. It is `mean` for
            scores that no judge gave.
        likely_item: if no battle has an item, the column that looks like the item; else None. If it
            is set, no model is called clearly ahead of another.
        runs: the runs of hosts' evals that gave the scores.
        questions: how the items of these runs were paired, by task; a finding without a task is of
            a table with inputs.
        other_responses: models whose rows hold different responses to one item.
        identical_responses: the items on which two models gave identical responses, by the sorted
            names of the two. Pairs are left out whose tables have no responses.
        absent: models that play in these battles' tournament and have no battle among them, if the
            battles are of some of its tasks.
        facts_of_tasks: what is known of each task; empty unless a tournament has several.
        whole: the battles that these are a part of; None if these are all battles.
        slice_key: the column, or several separated by commas, and the value by which `slices`
            selected these from `whole`; None if they are no slice.
        slice_count: number of slices, this one included, in which the same claims are tested. The
            error rate of each slice is divided by it.
        accepted: sentences on findings that the user accepted by name. The result repeats them.
    """

    rows: Rows
    missing: int | None = None
    notes: tuple[Notice, ...] = ()
    sources: tuple[str, ...] = ()
    reading: Mapping[str, Any] = field(default_factory=dict)
    lost: tuple[Notice, ...] = ()
    copies: int = 0
    judge_records: Mapping[str, JudgeRecord] = field(default_factory=dict)
    measures: tuple[Measure, ...] = ()
    apart: str | None = None
    answer: Mapping[str, Any] | None = None
    ladder: Ladder | None = None
    votes: "Battles | None" = None
    default_ranker: str = "bradley-terry"
    accepted: tuple[str, ...] = ()
    runs: tuple[RunRecord, ...] = ()
    questions: tuple[QuestionFinding, ...] = ()
    other_responses: tuple[ResponseFinding, ...] = ()
    identical_responses: Mapping[tuple[str, str], frozenset[str]] = field(
        default_factory=dict, repr=False
    )
    likely_item: str | None = None
    absent: tuple[str, ...] = ()
    facts_of_tasks: Mapping[str, TaskFacts] = field(default_factory=dict, repr=False)
    whole: "Battles | None" = field(default=None, repr=False, compare=False)
    slice_key: tuple[str, str] | None = field(default=None, repr=False, compare=False)
    slice_count: int = 1

    def __repr__(self) -> str:
        return (
            f"Battles({len(self)} of {len(self.models)} models, {self.counts().unparsed} unparsed)"
        )

    def _repr_html_(self) -> str | None:
        return html_of_result(self)

    def __len__(self) -> int:
        return len(self.rows)

    def plot(self) -> Any:
        """Return an altair chart of the win rates of pairs, models in the order of their rates."""
        return chart_of_result(self)

    @property
    def table(self) -> "pd.DataFrame":
        """The battles as a data frame.

        `model_a` and `model_b` are categoricals over the same sorted models.
        """
        return self.rows.table

    @property
    def tally(self) -> Tally:
        """Counts of judgments, battles, items and order pairs."""
        return self.rows.tally

    @property
    def models(self) -> tuple[str, ...]:
        """Names of all models, sorted, including models of whose battles none could be parsed."""
        return self.rows.models

    @property
    def readable(self) -> np.ndarray:
        """Mask of the battles with a verdict, shape (battles,)."""
        return ~np.isnan(self.numbers_of("credit"))

    def positions_between(self, first: str, second: str) -> np.ndarray:
        """Return the positions of the battles between two models, ascending, shape (battles,).

        Either of them may be model_a. The result is empty if one of them is not among the models,
        or if both are the same model.
        """
        models = self.models
        if first not in models or second not in models or first == second:
            return np.empty(0, dtype=np.int64)
        low, high = sorted((models.index(first), models.index(second)))
        codes, order = self._battles_by_pair
        pair = low * len(models) + high
        # The battles of the pair begin at its code and end before the next one.
        start, end = np.searchsorted(codes, [pair, pair + 1])
        return order[start:end]

    @cached_property
    def _battles_by_pair(self) -> tuple[np.ndarray, np.ndarray]:
        """The codes of the battles' pairs, ascending, and the positions of these battles, shape
        (battles,) each.

        Battles of a pair keep their order. Without it, each of many pairs would search all battles.
        """
        first, second = (codes.astype(np.int64) for codes in self.model_codes)
        pairs = np.minimum(first, second) * len(self.models) + np.maximum(first, second)
        order = np.argsort(pairs, kind="stable")
        return pairs[order], order

    @cached_property
    def is_unparsed(self) -> np.ndarray:
        """Mask of the battles whose reply was not parsed, shape (battles,).

        It is False for battles that have no credit because a score is missing.
        """
        unparsed = ~self.readable
        if not unparsed.any() or not {"score_a", "reason"}.issubset(self.rows.battle_columns):
            return unparsed
        reasons = self.rows.texts_of("reason").tolist()
        lacks = [reason is not None and lacks_score(reason) for reason in reasons]
        return unparsed & ~np.array(lacks, dtype=bool)

    @property
    def has_items(self) -> bool:
        """Whether any row has an item. If none has, each row counts as an item of its own."""
        return self.rows.has_items

    def first_shown(self) -> dict[str, FirstShown]:
        """Return how often the response shown first won, by judge (`""` for rows without a judge).

        If these battles are a part of others, all verdicts of their judges are counted. The result
        is empty if no pair was parsed in both orders, or if the orders were merged before the
        verdicts were read.
        """
        whole = self.whole or self
        figures_by_judge = whole.rows.first_shown
        if len(whole.judges) < 2:
            return figures_by_judge
        names_of_judges = {"" if judge == UNNAMED_JUDGE else judge for judge in self.judges}
        return {
            judge: figures
            for judge, figures in figures_by_judge.items()
            if judge in names_of_judges
        }

    @property
    def outcomes(self) -> np.ndarray:
        """Credits of model_a by the parsed verdicts, shape (battles,); NaN if unparsed.

        They differ from the column `credit` in battles that are graded by token probabilities.
        """
        credit = self.numbers_of("credit")
        if HARD_CREDIT not in self.rows.battle_columns:
            return credit
        parsed = self.numbers_of(HARD_CREDIT)
        return np.where(np.isnan(parsed) | np.isnan(credit), credit, parsed)

    @property
    def model_codes(self) -> tuple[np.ndarray, np.ndarray]:
        """Positions of model_a and of model_b among the models, shape (battles,) each."""
        return self.rows.codes_of("model_a"), self.rows.codes_of("model_b")

    @property
    def item_codes(self) -> np.ndarray:
        """Positions of the items among their sorted names, -1 without an item, shape (battles,)."""
        if "item" not in self.rows.battle_columns:
            return np.full(len(self), -1)
        return self.rows.codes_of("item")

    @property
    def item_names(self) -> tuple[str, ...]:
        """Names of the items, sorted, by the codes of `item_codes`; empty without items.

        A part of other battles may name items of which it has no battle.
        """
        if "item" not in self.rows.battle_columns:
            return ()
        return self.rows.names_of("item")

    @property
    def group(self) -> str | None:
        """The column with the groups of items (`cluster=`); None if items have no groups."""
        return self.rows.group

    @property
    def unit(self) -> str:
        """The noun for what varies independently, such as `item`.

        If items have groups, it is the noun for a group: `passage` if the column with the groups is
        `passage_id`. Without items, it is `row`.
        """
        if self.group is not None:
            return group_noun(self.group)
        return "item" if self.has_items else "row"

    @property
    def responses(self) -> np.ndarray:
        """Number of the response that each battle is about, from 1, shape (battles,).

        It is 1 for an empty cell, and for all battles without a column `response` or with one that
        has other values than whole numbers.
        """
        if "response" not in self.rows.battle_columns:
            return np.ones(len(self), dtype=np.int64)
        import pandas as pd

        column = self.table["response"]
        # If it has other values than whole numbers, the column is of another tool.
        if pd.api.types.infer_dtype(column, skipna=True) != "integer":
            return np.ones(len(self), dtype=np.int64)
        return column.fillna(1).to_numpy(dtype=np.int64)

    def items_with_responses(self, item: np.ndarray) -> np.ndarray:
        """Return a different code for each pair of an item and a response number, shape (battles,).

        Args:
            item: code of each battle's item; negative if it has none. The result is then negative,
                too.
        """
        numbers, code = np.unique(self.responses, return_inverse=True)
        return item * len(numbers) + code

    @property
    def criteria(self) -> tuple[str, ...]:
        """Names of the criteria that have margins of their own, sorted."""
        return tuple(
            name.removeprefix(CRITERION) for name in criterion_columns(self.rows.battle_columns)
        )

    @property
    def columns(self) -> frozenset[str]:
        """Names of the columns, without making a table."""
        return frozenset(self.rows.columns)

    @property
    def judges(self) -> tuple[str, ...]:
        """Names of all judges, sorted; empty without a judge column.

        If only some rows have a judge, the others count as `(no judge)`, the last name.
        """
        return self.rows.judges

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of all metrics of pointwise scores, sorted; empty without a column `metric`."""
        return self.values_of("metric") if "metric" in self.columns else ()

    def measure_of(self, name: str) -> Measure | None:
        """Return what is known of the metric that the column `metric` calls by this name.

        None if nothing is known of it.
        """
        return next((measure for measure in self.measures if measure.name == name), None)

    def judge_of(self, name: str) -> JudgeRecord:
        """Return the record of the judge that the column `judge` calls by this name.

        If there is no record, it is made from the name alone.
        """
        return self.judge_records.get(name) or JudgeRecord.from_name(name)

    @cached_property
    def short_judges(self) -> Mapping[str, str]:
        """Short names of the judges for people, by name in the column `judge`."""
        return short_judge_names(map(self.judge_of, self.judges))

    @property
    def is_one_jury(self) -> bool:
        """Whether one jury judged all battles, which are then ranked together.

        False if the column `jury` is missing, has several names or an empty cell.
        """
        if "jury" not in self.columns or len(self.values_of("jury")) != 1:
            return False
        return all(text is not None for text in self.rows.texts_of("jury"))

    def values_of(self, column: str) -> tuple[str, ...]:
        """Return the distinct values of a column as text, sorted, without empty ones.

        Raises:
            UsageError: there is no such column.
        """
        return self._rows_to_search(column).values_of(column)

    def numbers_of(self, column: str) -> np.ndarray:
        """Return a numeric column, shape (battles,); NaN if it is empty or does not exist."""
        if column not in self.rows.battle_columns:
            return np.full(len(self), np.nan)
        return self.rows.numbers_of(column)

    @property
    def has_weights(self) -> bool:
        """Whether battles differ in weight; empty weights do not count."""
        weights = self.numbers_of("weight")
        return len(distinct_values(weights[~np.isnan(weights)])) > 1

    def counts(self) -> Counts:
        """Count items, judgments, and judged, unparsed and missing battles.

        Battles without a credit because a score is missing count as missing, not as unparsed.
        """
        tally = self.tally
        _, without_score = self._reasons
        missing = self.missing
        if without_score:
            missing = (missing or 0) + without_score
        grades = self.grades
        # A battle of two grades is no judgment itself: a response is graded once for all battles.
        judgments = tally.judgments - without_score - grades.battles + grades.number
        has_judge = bool({*self.judges} - {UNNAMED_JUDGE})
        return Counts(
            items=tally.items,
            judgments=judgments,
            battles=tally.battles - without_score,
            unparsed=tally.battles - without_score - tally.judged,
            one_sided=tally.swaps["one-sided"],
            missing=missing,
            without_margin=tally.judged - tally.with_margin,
            identical=tally.identical,
            groups=self.rows.groups,
            group=None if self.group is None else self.unit,
            grades=grades.number,
            by_scores="score_a" in self.columns and not has_judge,
        )

    @cached_property
    def grades(self) -> Grades:
        """The grades of judges that are shown one response at a time; 0 for other judges and
        metrics."""
        merged = self.rows.merged_grades if isinstance(self.rows, BattleFrame) else None
        if merged is not None:
            return merged
        if not self.judges or self.metrics or "score_a" not in self.columns:
            return Grades(number=0, battles=0)
        return self.rows.grades

    def swaps(self) -> SwapReport | None:
        """Report how the verdicts of both orders agree; None if no battle was shown in both."""
        numbers = self.tally.swaps.values()
        return SwapReport(*numbers) if any(numbers) else None

    def unparsed_reasons(self) -> dict[str, int]:
        """Count the unparsed battles by reason, the most frequent first.

        A battle that has no credit because a score is missing does not count. A battle without a
        reason counts under `NO_REASON`.
        """
        unparsed, _ = self._reasons
        return unparsed

    @cached_property
    def _reasons(self) -> tuple[dict[str, int], int]:
        """The number of unparsed battles by reason, and the number of battles without a score."""
        reasons_of_rows = self.rows.unparsed_reasons
        is_scored = "score_a" in self.columns
        unparsed = {}
        without_score = 0
        for reason, battles in reasons_of_rows.items():
            if is_scored and lacks_score(reason):
                without_score += battles
            else:
                unparsed[reason] = battles
        return unparsed, without_score

    def unparsed_texts(
        self, column: str, most: int, reasons_left_out: Iterable[str] = ()
    ) -> Sequence[tuple[str, int | None]]:
        """Return the most frequent texts of a column among unparsed judgments, with their counts.

        If these battles are a part of others, the texts of all judgments of their judges are
        counted. The counts would be too large for the part, so they are None.

        Args:
            column: for example `reply` or `reason`; if it does not exist, the result is empty.
            most: the largest number of texts.
            reasons_left_out: judgments with one of these reasons, which may go on after a colon,
                do not count.
        """
        whole = self.whole or self
        is_part = len(self) != len(whole)
        judges = None
        if is_part and len(whole.judges) > 1:
            judges = self.judges
        texts = whole.rows.unparsed_texts(column, most, judges, reasons_left_out)
        if not is_part:
            return texts
        return [(words, None) for words, _ in texts]

    @property
    def asked_battles(self) -> "Battles":
        """The battles that judges were asked about, without ties of identical responses.

        Statements about judges are made from these. `missing` is that of all battles. These same
        battles are returned if no responses are identical.
        """
        if not self.tally.identical:
            return self
        is_identical = self.table[IDENTICAL].eq(True).to_numpy(dtype=bool)
        return replace(self.select(~is_identical), missing=self.missing)

    def select(self, keep: np.ndarray) -> "Battles":
        """Keep the battles for which a mask, shape (battles,), is True.

        Models without a battle are dropped. Unless all battles are kept, `missing` and `answer`
        become None, and `absent` and `facts_of_tasks` empty. `whole` is set in any case.
        """
        return self._part(BattleFrame(self.table, self.group).take(keep))

    def battles_of_model(self, model: str) -> "Battles":
        """Keep all battles of one model, readable or not.

        Other models that it never met are dropped. Facts that hold only for all battles, such as
        `missing`, are cleared unless these are all battles. The result is empty if there is no such
        model.
        """
        sides = ("model_a", "model_b")
        return self._part(self._rows_to_search(*sides).keep_where(sides, [model]))

    def complete_items(self) -> "Battles":
        """Keep the items on which every pair of models has a readable battle.

        A note on the result gives the number of these items.

        Raises:
            DataError: there is no such item.
        """
        import pandas as pd

        models = len(self.models)
        pairs = models * (models - 1) // 2
        item = self.item_codes
        a, b = self.model_codes
        # A code of each pair that does not depend on which model is a.
        pair = np.minimum(a, b) * models + np.maximum(a, b)
        readable_rows = pd.DataFrame({"item": item, "pair": pair})[self.readable & (item >= 0)]
        pairs_of_item = readable_rows.drop_duplicates()["item"].value_counts()
        full = pairs_of_item.index[pairs_of_item == pairs]
        if not len(full):
            problem = f"no item has a readable battle for each of the {quantity(pairs, 'pair')}"
            raise DataError(problem, remedy="rank without asking for complete items")
        complete = self.select(np.isin(item, full))
        numbers = {"kept": len(full), "items": self.counts().items}
        note = Notice("complete-items", numbers)
        return replace(complete, notes=(*complete.notes, note))

    def slices(self, column: str, *, most: int = MOST_SLICES) -> Iterator[tuple[str, "Battles"]]:
        """Yield each value of a column with its battles, in the order of the values.

        If a cell lists several values, its battle is in the slice of each of them. A battle with an
        empty cell is in no slice. The slice of a task has the task's own `missing` and `absent`, if
        `facts_of_tasks` has them.

        Args:
            column: a name, or several separated by commas, whose values are combined as `x, y`. A
                column of times with a number, as `created_at:2`, has so many successive periods
                with about equally many battles.
            most: the largest number of values that a column may have.

        Raises:
            UsageError: there is no such column, it is empty, or it has more values than `most`.
        """
        first, comma, rest = column.partition(",")
        if comma:
            for value, part in self.slices(first.strip(), most=most):
                for other, inner in part.slices(rest.strip(), most=most):
                    yield f"{value}, {other}", inner
            return
        cells = self._cells_of_value(column)
        distinct_cells = sorted(cells)
        if not distinct_cells and self._name_of_column(column) != column:
            name = self._name_of_column(column)
            raise UsageError(f"column {name!r} has no times, which --by {column} needs")
        if not distinct_cells:
            raise UsageError(f"column {column!r} is empty; choose another for --by")
        if len(distinct_cells) > most:
            problem = f"column {column!r} has {len(distinct_cells):,} values"
            remedy = f"choose one with at most {most}"
            raise UsageError(f"{problem}, and --by makes a ranking of each: {remedy}")
        searched = self._name_of_column(column)
        for value in distinct_cells:
            rows = self._rows_to_search(searched).keep_where([searched], cells[value])
            part = self._part(rows)
            facts = self.facts_of_tasks.get(value) if column == "task" else None
            if facts is not None:
                part = replace(part, missing=facts.missing, absent=facts.absent)
            yield value, replace(part, slice_key=self._narrower_key(column, value))

    def _narrower_key(self, column: str, value: str) -> tuple[str, str]:
        """Return the `slice_key` of a slice of these battles, which may be a slice themselves.

        The columns and the values are then joined: `("task,judge", "math, gpt-4o")`.

        Args:
            column: the column by which these battles are sliced.
            value: the value of the slice.
        """
        if self.slice_key is None:
            return column, value
        own_column, own_value = self.slice_key
        return f"{own_column},{column}", f"{own_value}, {value}"

    def _cells_of_value(self, column: str) -> dict[str, list[str]]:
        """Return the texts of the cells that have a value, by value.

        A cell may list several values. An empty list has none. The values of a column of times with
        a number, as `created_at:2`, are the names of its periods (`cells_by_period`).

        Raises:
            UsageError: there is no such column.
        """
        periods = split_name_of_periods(column, self.columns)
        if periods is not None:
            name, number = periods
            return cells_by_period(self.rows.texts_of(name), number)
        cells: dict[str, list[str]] = {}
        for cell in self.values_of(column):
            for value in values_in_cell(cell):
                cells.setdefault(value, []).append(cell)
        return cells

    def _name_of_column(self, column: str) -> str:
        """Return the name of a column without a number of periods: `created_at` of `created_at:2`.

        The name of any other column is returned unchanged.
        """
        periods = split_name_of_periods(column, self.columns)
        return column if periods is None else periods[0]

    def has_lists(self, column: str) -> bool:
        """Return whether any cell of a column, or of several separated by commas, is a list.

        Raises:
            UsageError: there is no such column.
        """
        names = (self._name_of_column(name.strip()) for name in column.split(","))
        return any(is_list(cell) for name in names for cell in self.values_of(name))

    def count_slices_of_battles(self, column: str) -> np.ndarray:
        """Return the number of slices of `slices(column)` that each battle is in, shape (battles,).

        It is the number of values in the battle's cell, 0 if the cell is empty. For several columns
        it is the product of these numbers, as their values are combined.

        Raises:
            UsageError: there is no such column.
        """
        slices_of_battle = np.ones(len(self), dtype=np.int64)
        for written_name in column.split(","):
            name = written_name.strip()
            cells_of_value = self._cells_of_value(name)
            cells = as_text(self.table[self._name_of_column(name)])
            values_of_cell = Counter(
                cell for cells_with_value in cells_of_value.values() for cell in cells_with_value
            )
            slices_of_battle *= cells.map(values_of_cell).fillna(0).to_numpy(dtype=np.int64)
        return slices_of_battle

    def to_frame(self) -> "pd.DataFrame":
        """Return the table with plain text instead of categoricals.

        Known columns come first, in the order of `COLUMNS`, then margins on criteria, then others.
        """
        plain = self.table.copy()
        for name in plain.columns[plain.dtypes == "category"]:
            plain[name] = plain[name].astype(object)
        first_columns = [name for name in COLUMNS if name in plain]
        first_columns += criterion_columns(plain)
        others = [name for name in plain if name not in first_columns]
        return plain[first_columns + others]

    def _rows_to_search(self, *columns: str) -> Rows:
        """Return the rows in the database, or in memory if texts there are found faster.

        `Verdicts.can_search` decides.

        Args:
            columns: the columns that are searched.
        """
        if self.rows.can_search(columns):
            return self.rows
        return BattleFrame(self.table, self.group)

    def _part(self, rows: Rows) -> "Battles":
        """Return the battles of these rows, which remember the `whole` that they are a part of.

        Facts that hold only for all battles, such as `missing`, are cleared, unless the rows are as
        many as these battles and so all of them.
        """
        whole = self.whole or self
        if len(rows) == len(self):
            return replace(self, rows=rows, whole=whole)
        return replace(
            self, rows=rows, missing=None, absent=(), facts_of_tasks={}, answer=None, whole=whole
        )
