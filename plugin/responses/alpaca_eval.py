"""AlpacaEval outputs (`model_outputs.json`): instruction, output, generator. Items are known by their instruction."""

from collections import Counter

from podium.responses.answers import ResponseRow, Sheet, answer, id_of

COLUMNS = {"instruction", "output", "generator"}


def fits(sheet: Sheet) -> bool:
    """Whether these are AlpacaEval outputs; with ids of its own a table is a plain one."""
    return sheet.columns >= COLUMNS and not sheet.columns & {"id", "item", "uid"}


def read(sheet: Sheet) -> list[ResponseRow]:
    """Read a response per row; an instruction that a model answers again is an item of its own."""
    seen: Counter[tuple[str | None, str]] = Counter()
    answers = []
    for record in sheet.records():
        instruction = record.text("instruction")
        if not instruction:
            raise record.error("no instruction", "AlpacaEval outputs name the instruction in every row")
        model = record.name("generator")
        seen[sheet.label or model, instruction] += 1
        time = seen[sheet.label or model, instruction]
        item = id_of(instruction) + (f"#{time}" if time > 1 else "")
        asked = record.question(item, instruction, category=record.name("dataset"))
        answers.append(answer(asked, model, record.text("output")))
    return answers
