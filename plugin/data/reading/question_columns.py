"""Find the columns of a table that say which question each row is about.

That is the text that a model was asked, with a context or an input of its own where texts recur,
and the reference answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from podium.data.counting.duck import Duck
from podium.data.counting.relations import sql_literal
from podium.data.formats.records import Column, Records, words_of_column
from podium.data.reading.rows import RecordTable
from podium.data.reading.table import is_pointwise
from podium.wording import join_names

ASKED_NAMES = (
    "question",
    "instruction",
    "problem",
    "query",
    "question_text",
    "user_input",
    "input",
    "user_prompt",
    "messages",
    "prompt",
)
"""Columns with what a model was asked. The first that a table has counts."""
RENDERED_NAMES = frozenset({"user_prompt", "messages", "prompt"})
"""Columns of `ASKED_NAMES` that may have what was sent to one model, in its chat template."""
CONTEXT_NAMES = (
    "context",
    "passage",
    "document",
    "article",
    "paragraph",
    "premise",
    "hypothesis",
    "choices",
    "options",
)
"""Columns with a further part of the question, or with what a model retrieved."""
REFERENCE_NAMES = (
    "reference",
    "reference_answer",
    "target",
    "ground_truth",
    "gold",
    "gold_answer",
    "expected",
    "expected_answer",
    "expected_output",
    "correct_answer",
    "ideal",
)
"""Columns with the reference answer, which is one for all models."""
ANSWER = "answer"
"""A column with the reference answer, or with the answer of a model."""
CATEGORIES = ("category", "subset", "subject", "domain", "task")
"""Columns within which ids may be unique, in the order in which they are tried."""
REPLY_NAMES = ("response", "output", "prediction", "completion", "model_answer", "model_output")
"""Columns with the answers of models. Beside them, `ANSWER` is the reference answer."""
PROMPTS_IN_DOUBT = "questions, or a judge's prompts"
NUMBERS_IN_DOUBT = "questions, or numbers of tokens"
CONTEXTS_IN_DOUBT = "of the question, or what a model retrieved"
"""What columns of inputs may hold, for messages of the finding `undecided`."""
FEWEST_ANSWERS = 4
"""With fewer different answers, it is chance that models have the same ones."""
SEPARATOR = " | "
"""What stands between the texts of several columns."""


@dataclass(frozen=True, slots=True)
class QuestionColumn:
    """What a table says of the questions of its rows, as one column.

    Attributes:
        names: the columns of the table.
        column: texts that are equal for rows of one question.
        shown: their texts, for messages.
        doubt: what else the column may have; empty if its texts are questions or judges' prompts.
        is_reference: whether the columns have reference answers only.
    """

    names: tuple[str, ...]
    column: Column
    shown: Column
    doubt: str = ""
    is_reference: bool = False

    @property
    def what(self) -> str:
        """`reference answers` if the columns have only these, else `inputs`; for messages."""
        return "reference answers" if self.is_reference else "inputs"

    @property
    def first_name(self) -> str:
        """The first of the columns."""
        return self.names[0]

    @property
    def name(self) -> str:
        """The names of the columns, for messages."""
        return join_names(self.names)


@dataclass(frozen=True, slots=True)
class QuestionParts:
    """The columns of all tables that may say which question a row is about.

    Attributes:
        main: for each table, the columns with what was asked; empty if it has none.
        further: columns with further parts of it, or with what a model retrieved for it.
        references: the column with the reference answers, if all tables have it.
        doubt: what else the columns of `main` may have; empty if they have texts of questions.
    """

    main: tuple[tuple[str, ...], ...]
    further: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    doubt: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether no table says anything of its questions."""
        return not any(self.main) and not self.references

    def as_columns(
        self, tables: Sequence[RecordTable], *, with_further: bool
    ) -> list[QuestionColumn | None]:
        """Return for each table its columns of questions, joined to one column.

        They are joined with the reference answers, which stand alone if no table says what was
        asked. A table that does not say what was asked, although another table does, has None.

        Args:
            tables: the tables, in the order of `main`.
            with_further: whether the columns of `further` are joined, too.
        """
        further = self.further if with_further else ()
        columns: list[QuestionColumn | None] = []
        for table, main in zip(tables, self.main, strict=True):
            names = (*main, *further, *self.references)
            is_known = main or not any(self.main)
            joined = _join_columns(table.records, names, self.doubt) if is_known else None
            columns.append(joined)
        return columns


def find_question_parts(engine: Duck, tables: Sequence[RecordTable]) -> QuestionParts:
    """Return the columns of tables that may say which question a row is about.

    Columns of `ASKED_NAMES` with texts come first; if no table has one, those with numbers only,
    which may be numbers of tokens. Contexts are further parts of them. If no table has a column of
    `ASKED_NAMES`, the contexts that all tables have are the main columns, with a doubt.

    Args:
        engine: the database.
        tables: tables with a column `item`.
    """
    references = _reference_names(engine, tables)
    for doubt in ("", NUMBERS_IN_DOUBT):
        named = [_asked_names(each.records, are_numbers=bool(doubt)) for each in tables]
        if any(named):
            further = _names_in_all(named)[1:] + _names_in_all(_further_names(tables, named))
            return QuestionParts(_first_names(named), further, references, doubt)
    contexts = _names_in_all([_known_names(each.records, CONTEXT_NAMES) for each in tables])
    doubt = CONTEXTS_IN_DOUBT if contexts else ""
    return QuestionParts(
        main=(contexts,) * len(tables), further=(), references=references, doubt=doubt
    )


def choose_question_columns(
    engine: Duck, tables: Sequence[RecordTable], parts: QuestionParts
) -> list[QuestionColumn | None]:
    """Return the columns by which rows of one id are compared, for each table.

    Further parts count if the first column has few texts, or if most of its texts with their
    further parts are of several models or files: what a model retrieved is its own. If no table
    says what was asked, the columns have the reference answers (`columns_of_references`).

    Args:
        engine: the database.
        tables: the tables.
        parts: what the tables say of their questions. It is not empty.

    Returns:
        A column for each table, in their order; None if the table does not say what was asked.
    """
    if not any(parts.main):
        return columns_of_references(engine, tables, parts.references[0])
    whole = parts.as_columns(tables, with_further=True)
    if not parts.further:
        return whole
    main = parts.as_columns(tables, with_further=False)
    return whole if _are_parts_of_questions(engine, tables, main, whole) else main


def _known_names(records: Records, names: Sequence[str]) -> tuple[str, ...]:
    """Return those of some names that a table has as columns with texts (`_has_texts`)."""
    return tuple(name for name in names if _has_texts(records, name))


def _has_texts(records: Records, name: str) -> bool:
    """Return whether a table has a column in which at least one text is no number."""
    if name not in records.columns or records.columns[name].is_number:
        return False
    cell = records.columns[name].text
    is_text = f"{cell} is not null and try_cast({cell} as double) is null"
    return bool(records.rows("1", f"where {is_text} limit 1"))


def _has_numbers(records: Records, name: str) -> bool:
    """Return whether a table has a column with a number, in which no text is anything else."""
    if name not in records.columns or _has_texts(records, name):
        return False
    return bool(records.rows("1", f"where {records.columns[name].number} is not null limit 1"))


def _asked_names(records: Records, *, are_numbers: bool) -> tuple[str, ...]:
    """Return the columns of `ASKED_NAMES` with texts, or with numbers only.

    Those of `RENDERED_NAMES` are left out beside others; without others, only the first is
    returned. If columns of numbers are asked for and the column `output` has numbers, the result is
    empty: `input` then has numbers of tokens.
    """
    if not are_numbers:
        names = _known_names(records, ASKED_NAMES)
    elif _has_numbers(records, "output"):
        names = ()
    else:
        names = tuple(name for name in ASKED_NAMES if _has_numbers(records, name))
    plain = tuple(name for name in names if name not in RENDERED_NAMES)
    return plain or names[:1]


def _names_in_all(named: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the names that all tables have, in the order of the first table.

    Tables without any names are not looked at.
    """
    holders = [names for names in named if names]
    if not holders:
        return ()
    first, *others = holders
    in_all = set(first).intersection(*others)
    return tuple(name for name in first if name in in_all)


def _first_names(named: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """Return for each table the first name that all tables have, else its own first name.

    Each is a tuple of one name. A table without names has an empty tuple, and is not looked at when
    the shared names are found.
    """
    shared_names = _names_in_all(named)
    firsts: list[tuple[str, ...]] = []
    for names in named:
        if names and shared_names:
            firsts.append(shared_names[:1])
        else:
            firsts.append(names[:1])
    return tuple(firsts)


def _further_names(
    tables: Sequence[RecordTable], named: Sequence[tuple[str, ...]]
) -> list[tuple[str, ...]]:
    """Return the columns with contexts of the tables that say what was asked.

    Other tables have none. The list is empty if a table that says what was asked has no context.
    """
    further = []
    for table, names in zip(tables, named, strict=True):
        contexts: tuple[str, ...] = ()
        if names:
            contexts = _known_names(table.records, CONTEXT_NAMES)
            if not contexts:
                return []
        further.append(contexts)
    return further


def _reference_names(engine: Duck, tables: Sequence[RecordTable]) -> tuple[str, ...]:
    """Return the name of the column with reference answers, as a tuple of one; empty for none.

    All tables have the column, and every row has a text in it. There is none if the tables are of
    battles, or if a model has several reference answers for an id of one category.
    """
    if not all(is_pointwise(each.records.columns) for each in tables):
        return ()
    for name in (*REFERENCE_NAMES, ANSWER):
        if not all(name in each.records.columns for each in tables):
            continue
        is_known = name != ANSWER or _is_reference_answer(engine, tables)
        if is_known and _is_one_for_each_id(engine, tables, name):
            return (name,)
    return ()


def _is_one_for_each_id(engine: Duck, tables: Sequence[RecordTable], name: str) -> bool:
    """Return whether every row has a text in a column, and every id of a model has one text.

    An id may have one in each category.
    """
    categories = []
    for name_of_category in CATEGORIES:
        if all(name_of_category in each.records.columns for each in tables):
            categories.append(name_of_category)
    rows = _texts_of_columns(tables, [("model", "item", name, *categories)] * len(tables))
    missing = f"select 1 from {rows} where c1 is not null and c2 is null limit 1"
    within = "".join(f", c{3 + number}" for number in range(len(categories)))
    differing = f"group by place, c0, c1{within} having min(c2) <> max(c2) limit 1"
    return not engine.rows(missing) and not engine.rows(f"select 1 from {rows} {differing}")


def _is_reference_answer(engine: Duck, tables: Sequence[RecordTable]) -> bool:
    """Return whether the column `ANSWER` has reference answers.

    It does if each table also has a column with the answers of models (`REPLY_NAMES`), or if there
    are several models and all have the same answers, at least `FEWEST_ANSWERS` different ones: then
    they are those of the dataset.
    """
    names_of_replies = {*REPLY_NAMES}
    have_replies = [not names_of_replies.isdisjoint(each.records.columns) for each in tables]
    if all(have_replies):
        return True
    rows = _texts_of_columns(tables, [("model", ANSWER)] * len(tables))
    # Models with the same answers have the same sum of hashes, whatever the order of the rows.
    of_model = (
        "select c0, sum(hash(c1)::hugeint) as fingerprint, count(distinct c1) as answers "
        f"from {rows} where c0 is not null and c1 is not null group by c0"
    )
    facts = "count(*) as models, count(distinct fingerprint) as different, min(answers) as fewest"
    ((models, different, fewest),) = engine.rows(f"select {facts} from ({of_model}) as of_model")
    return bool(models > 1 and different == 1 and fewest >= FEWEST_ANSWERS)


def columns_of_references(
    engine: Duck, tables: Sequence[RecordTable], name: str
) -> list[QuestionColumn | None]:
    """Return the column with reference answers of each table.

    If a model has one answer for several ids, the column has the answer and the id.

    Args:
        engine: the database.
        tables: the tables, which all have the column.
        name: name of the column.
    """
    rows = _texts_of_columns(tables, [("model", "item", name)] * len(tables))
    recurs = "where c2 is not null group by place, c0, c2 having min(c1) <> max(c1) limit 1"
    with_ids = bool(engine.rows(f"select 1 from {rows} {recurs}"))
    columns: list[QuestionColumn | None] = []
    for table in tables:
        shown = _join_columns(table.records, (name,)).shown
        column = shown
        if with_ids:
            item = table.records.columns["item"].text
            column = Column(f"concat({shown.text}, {sql_literal(SEPARATOR)}, {item})")
        columns.append(QuestionColumn((name,), column, shown, is_reference=True))
    return columns


def _are_parts_of_questions(
    engine: Duck,
    tables: Sequence[RecordTable],
    main: Sequence[QuestionColumn | None],
    whole: Sequence[QuestionColumn | None],
) -> bool:
    """Return whether further columns are parts of the questions, and not what a model retrieved.

    They are if the first columns have at most half as many texts as there are ids, or if most texts
    of all columns together are in rows of several models or files.

    Args:
        engine: the database.
        tables: the tables.
        main: the first columns with what was asked.
        whole: these columns with the further ones.
    """
    queries = []
    for place, (table, first, joined) in enumerate(zip(tables, main, whole, strict=True)):
        if first is None or joined is None:
            continue
        columns = table.records.columns
        models = [columns[name].text for name in ("model", "model_a", "model_b") if name in columns]
        cells = f"hash({', '.join([str(place), *models])}) as whose, {columns['item'].text} as id"
        inputs = f"hash({first.column.text}) as main, hash({joined.column.text}) as input"
        queries.append(f"select {cells}, {inputs} from {table.records.scan}")
    rows = f"({' union all '.join(queries)}) as rows where id is not null"
    counts = "count(distinct main) as texts, count(distinct id) as ids"
    ((texts, ids),) = engine.rows(f"select {counts} from {rows}")
    if 2 * texts <= ids:
        return True
    groups = f"select min(whose) <> max(whose) as is_shared from {rows} group by input"
    ((share,),) = engine.rows(f"select avg(is_shared::int) from ({groups}) as groups")
    return share is not None and share > 0.5


def _texts_of_columns(tables: Sequence[RecordTable], names: Sequence[tuple[str, ...]]) -> str:
    """Return SQL of the texts of some columns, as `(select ...) as rows` to stand after `from`.

    The texts are the columns `c0`, `c1` and so on. The column `place` has the number of the table.

    Args:
        tables: the tables.
        names: for each table, the names of its columns; all have equally many.
    """
    queries = []
    for place, (table, names_of_table) in enumerate(zip(tables, names, strict=True)):
        cells = [f"{place} as place"]
        for number, name in enumerate(names_of_table):
            cells.append(f"{_one_spelling(table.records.columns[name])} as c{number}")
        queries.append(f"select {', '.join(cells)} from {table.records.scan}")
    return f"({' union all '.join(queries)}) as rows"


def _one_spelling(column: Column) -> str:
    """Return an SQL expression of a column's words; numbers have no trailing `.0`."""
    if column.is_number:
        return f"regexp_replace({column.text}, '\\.0+$', '')"
    return words_of_column(column)


def _join_columns(records: Records, names: Sequence[str], doubt: str = "") -> QuestionColumn:
    """Return columns of a table as one, with `SEPARATOR` between their texts.

    Empty cells are left out. A single column of texts is returned as it is.

    Args:
        records: the table.
        names: the columns, at least one.
        doubt: what else the columns may have (`QuestionColumn.doubt`).
    """
    if len(names) == 1 and not records.columns[names[0]].is_number:
        column = records.columns[names[0]]
    else:
        texts = [_one_spelling(records.columns[name]) for name in names]
        column = Column(f"concat_ws({sql_literal(SEPARATOR)}, {', '.join(texts)})")
    return QuestionColumn(names=tuple(names), column=column, shown=column, doubt=doubt)
