"""What Inspect's viewer shows of a tournament: models, reasons, short ids, ranks first."""

import click
import pytest
from inspect_ai.log import headline_metric, read_eval_log
from inspect_ai.viewer import ViewerConfig
from played_logs import battles, place, verdict_of

from podium.hosts.inspect_ai.judging.pack_table import pack_table
from podium.hosts.inspect_ai.judging.viewer import tournament_viewer
from podium.hosts.inspect_ai.logs.podium_entries import BattleVerdict
from podium.hosts.inspect_ai.logs.ranking_in_log import headline_of
from podium.hosts.inspect_ai.tasks import round_robin
from podium.hosts.inspect_ai.tournament.round_samples import outcomes_of
from podium.inspect import pairwise_viewer
from podium.names import names_without_provider
from podium.rankers.ranking import Separation


@pytest.fixture
def log(behave, write_responses, play):
    return play(
        round_robin(responses=write_responses(items=2, models={"ash": 1.0, "elm": 2.0})), behave()
    )


@pytest.mark.slow
def test_explanation_contains_models_responses_and_judge_reply(log):
    sample = battles(log)[0]
    words = verdict_of(sample).explanation
    assert words.startswith("ash against elm")
    assert "ash first: " in words
    assert "elm first: " in words
    for side in ("response_a", "response_b"):
        assert f"│ {sample.metadata[side]}" in words
    replies = [
        reply["text"] for shown in sample.store["podium"]["judgments"] for reply in shown["replies"]
    ]
    assert replies
    assert all(f"│ {line}" in words for reply in replies for line in reply.strip().splitlines())


@pytest.mark.slow
def test_explanation_marks_a_truncated_response(behave, write_responses, play):
    texts = {("ash", 0): "quality=1 " + "x" * (2000 + 990)}
    responses = write_responses(items=1, models={"ash": 1.0, "elm": 2.0}, texts=texts)
    [sample] = battles(play(round_robin(responses=responses), behave()))
    assert "… (1,000 more characters)" in verdict_of(sample).explanation
    assert sample.metadata["response_a"] == texts["ash", 0]


def test_sample_ids_omit_the_provider_if_names_stay_unique(behave, play, tmp_path):
    path = tmp_path / "responses.csv"
    path.write_text(
        "id,instruction,response,model\nq0,Why?,quality=1,lab/ash\nq0,Why?,quality=2,other/me/elm\n"
    )
    [sample] = battles(play(round_robin(responses=str(path)), behave()))
    assert sample.id == "q0::ash::elm"
    assert {sample.metadata["model_a"], sample.metadata["model_b"]} == {"lab/ash", "other/me/elm"}


def test_names_that_end_alike_stay_whole():
    names = ["a/x", "b/x", "c/y", "y", "z"]
    assert names_without_provider(names) == {
        "a/x": "a/x",
        "b/x": "b/x",
        "c/y": "c/y",
        "y": "y",
        "z": "z",
    }


@pytest.mark.slow
def test_the_table_of_models_begins_with_rank_rating_and_interval(behave, write_responses, play):
    log = play(round_robin(responses=write_responses()), behave())
    scores = [
        score
        for score in read_eval_log(str(place(log))).results.scores
        if score.name in ("ash", "elm")
    ]
    prefix = "bradley_terry"
    assert [list(score.metrics)[:4] for score in scores] == [
        [f"{prefix}_rank", prefix, f"{prefix}_low", f"{prefix}_high"]
    ] * 2


@pytest.mark.slow
def test_the_printed_table_says_its_task(behave, write_responses, play, capsys):
    play(round_robin(responses=write_responses(items=2)), behave())
    assert "bradley-terry [round_robin]" in capsys.readouterr().err


@pytest.mark.slow
def test_in_a_command_the_table_comes_when_the_command_ends(behave, write_responses, play, capsys):
    """Inspect's full screen takes, or covers, what is printed while it stands."""
    with click.Context(click.Command("inspect")):
        play(round_robin(responses=write_responses(items=2)), behave())
        assert "bradley-terry" not in capsys.readouterr().err
    stated = capsys.readouterr().err
    assert stated.index("bradley-terry [round_robin]") < stated.index("podium: wrote ")


def separated(names, *cuts):
    return Separation(tuple(names), cuts, ((),) * len(names), 2.0, 40, 30.0, 1.0, None)


@pytest.mark.parametrize(
    ("separation", "headline"),
    [
        (separated("abc", 1), ("distinguishable groups, first: a", 2)),
        (separated("abcd", 2, 3), ("distinguishable groups, first: a or b", 3)),
        (separated("abc"), ("distinguishable groups, first: a or b or c", 1)),
        (separated("abcde"), ("distinguishable groups, first: one of 5", 1)),
    ],
)
def test_the_headline_says_who_may_be_first_and_how_many_groups_there_are(separation, headline):
    assert headline_of(separation) == headline


@pytest.mark.slow
def test_the_headline_is_the_first_score_of_the_log(behave, write_responses, play):
    log = play(round_robin(responses=write_responses()), behave())
    [(name, metric)] = read_eval_log(str(place(log))).results.scores[0].metrics.items()
    assert name.startswith("distinguishable groups, first: ")
    assert metric.value >= 1
    assert headline_metric(read_eval_log(str(place(log)))).name == name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("realization", "shown"), [("direct", "first:"), ("likert", "one by one:")]
)
def test_explanations_name_judges_without_hashes(play, write_responses, realization, shown):
    task = round_robin(responses=write_responses(), pack=False, realization=realization)
    log = play(task, judge="podium/offline")
    explanations = [sample.scores["verdict"].explanation for sample in log.samples]
    asked = [text for text in explanations if "without a call" not in text]
    assert asked
    for text in asked:
        assert shown in text
        assert "(podium/offline)" in text
        assert "|" not in text


@pytest.mark.slow
def test_a_list_of_battles_has_models_credit_flip_and_unparsed(behave, write_responses, play):
    models = {"ash": 1.0, "elm": 1.2, "fir": 2.0}
    paths = write_responses(items=4, models=models)
    responses = [f"lab/{name}={path}" for name, path in zip(models, paths, strict=True)]
    judge = behave(garbage=0.2, bias=2.0)
    log = play(round_robin(responses=responses, pack=False, attempts=1, replies="text"), judge)
    for sample in battles(log):
        value = sample.scores["battle"].value
        rows = verdict_of(sample).metadata["podium"]["judgments"]
        by_order = {row["order"]: row["credit"] for row in rows}
        is_unparsed = None in by_order.values()
        assert f"lab/{value['model_a']}" == sample.metadata["model_a"]
        assert f"lab/{value['model_b']}" == sample.metadata["model_b"]
        assert value["unparsed"] == is_unparsed
        if is_unparsed:
            assert value["flip"] != value["flip"]
        else:
            prefers_a = [credit > 0.5 for credit in by_order.values()]
            assert value["flip"] == (len({*prefers_a}) == 2)
    values = [sample.scores["battle"].value for sample in battles(log)]
    [counted] = [own for own in read_eval_log(log.location).results.scores if own.name == "battle"]
    assert 0 < sum(own["unparsed"] for own in values) < len(values)
    assert counted.metrics["unparsed"].value == sum(own["unparsed"] for own in values)
    assert counted.metrics["flips"].value == sum(own["flip"] > 0 for own in values) > 0


@pytest.mark.slow
def test_the_viewer_is_told_the_columns_and_not_to_trust_responses(behave, write_responses, play):
    log = play(round_robin(responses=write_responses(items=2), pack=False), behave())
    viewer = read_eval_log(log.location, header_only=True).eval.viewer
    assert getattr(viewer, "trust_content", False) is False
    view = viewer.task_samples_view
    assert [column.id for column in view.columns if column.visible] == [
        "sampleId",
        "score__battle__model_a",
        "score__battle__model_b",
        "score__verdict__verdict",
        "score__battle__flip",
        "score__battle__unparsed",
        "sampleStatus",
        "input",
        "error",
    ]
    scale = view.score_color_scales["verdict"]
    assert (scale.palette, scale.min, scale.max) == ("diverging", 0, 1)


@pytest.mark.slow
def test_the_explanation_of_a_pack_is_a_table_of_its_battles(behave, write_responses, play):
    models = {"ash|x": 1.0, "elm": 1.2, "fir": 3.0}
    log = play(round_robin(responses=write_responses(items=1, models=models), pack=True), behave())
    [sample] = [own for own in log.samples if own.scores]
    assert verdict_of(sample).answer == "3 of 3 readable"
    counted, blank, heading, *rows = verdict_of(sample).explanation.splitlines()
    assert counted.startswith("3 of 3 battles have a readable verdict; ")
    assert blank == ""
    names = ["model A", "model B", "credit", "flip", "A first", "B first"]
    assert heading.split() == " ".join(names).split()
    assert [row.startswith("ash|x ") for row in rows].count(True) == 2
    starts = [heading.index(name) for name in names]
    assert all(row[start - 1] == " " for row in rows for start in starts[1:])
    kept = verdict_of(sample).metadata["podium"]["battles"]
    cells = [row.split() for row in rows]
    assert [float(row[2]) for row in cells] == pytest.approx(kept["columns"]["credit"], abs=1e-3)
    assert [row[3] for row in cells].count("1") == sum(
        row[4] != row[5] and (float(row[4]) - 0.5) * (float(row[5]) - 0.5) < 0 for row in cells
    )


def test_a_version_of_inspect_without_trust_gets_the_columns_alone(monkeypatch):
    class OlderConfig(ViewerConfig):
        """The settings of a version that does not know `trust_content`."""

    monkeypatch.setattr(OlderConfig, "model_fields", {"task_samples_view": None}, raising=False)
    monkeypatch.setattr("inspect_ai.viewer.ViewerConfig", OlderConfig)
    viewer = tournament_viewer(packed=False)
    assert viewer.model_fields_set == {"task_samples_view"}


@pytest.mark.slow
@pytest.mark.parametrize("pack", [False, True])
def test_values_have_three_decimals_and_metadata_all(behave, write_responses, play, pack):
    models = {"ash": 1.0, "elm": 1.21, "fir": 1.4}
    judge = behave(garbage=0.2, probabilities=True)
    log = play(round_robin(responses=write_responses(models=models), pack=pack, attempts=1), judge)
    credits = []
    for sample in [own for own in log.samples if own.scores]:
        score = verdict_of(sample)
        assert score.value == pytest.approx(round(score.as_float(), 3), abs=1e-12, nan_ok=True)
        kept = score.metadata["podium"]
        if pack:
            credits += kept["battles"]["columns"]["credit"]
            continue
        rows = [row["credit"] for row in kept["judgments"]]
        full = None if None in rows else sum(rows) / 2
        assert kept["credit"] == pytest.approx(full)
        credits.append(full)
    known = [credit for credit in credits if credit is not None]
    assert 0 < len(known) < len(credits)
    assert all(credit != round(credit, 3) for credit in known)


@pytest.mark.slow
def test_a_later_round_plays_by_the_full_credits(behave, write_responses, play):
    log = play(round_robin(responses=write_responses(models={"ash": 1.0, "elm": 1.21})), behave())
    [sample, *_] = battles(log)
    [outcome] = outcomes_of(sample)
    rows = verdict_of(sample).metadata["podium"]["judgments"]
    assert outcome.credit == pytest.approx(sum(row["credit"] for row in rows) / 2, abs=1e-12)


def battle_verdict(first, second, rows, **fields):
    credits = [row["credit"] for row in rows]
    whole = None if None in credits else sum(credits) / len(credits)
    return BattleVerdict(
        item="q", model_a=first, model_b=second, judgments=rows, credit=whole, **fields
    )


def judgment(order, credit, reason=None):
    return {"order": order, "repeat": 1, "judge": "j", "credit": credit, "reason": reason}


def test_the_table_of_a_pack_is_narrow_and_has_reasons_below():
    tie = battle_verdict("lab/elm", "fir", [judgment("merged", 0.5)], identical=True)
    rows = [judgment("ab", 0.25), judgment("ba", None, "no verdict, and a long reason")]
    both = [judgment("ab", None, "empty"), judgment("ba", None, "empty")]
    verdicts = [
        battle_verdict("lab/ash", "fir", rows),
        battle_verdict("lab/ash", "lab/elm", both),
        tie,
    ]
    short = {"lab/ash": "ash", "lab/elm": "elm"}
    assert pack_table(verdicts, short).splitlines() == [
        "model A  model B  credit    flip  A first   B first",
        "ash      fir      unparsed        0.250     unparsed",
        "ash      elm      unparsed        unparsed  unparsed",
        "elm      fir      0.500           no call   no call",
        "",
        "ash against fir, B first: unparsed (no verdict, and a long reason)",
        "ash against elm, A first and B first: unparsed (empty)",
        "elm against fir: identical responses, a tie without a call",
    ]


def test_the_viewer_of_pairwise_has_the_winner_credit_flip_and_unparsed():
    viewer = pairwise_viewer()
    assert getattr(viewer, "trust_content", False) is False
    view = viewer.task_samples_view
    assert [column.id for column in view.columns if column.visible] == [
        "sampleId",
        "answer",
        "score__pairwise__credit",
        "score__pairwise__flip",
        "score__pairwise__unparsed",
        "sampleStatus",
        "input",
        "error",
    ]
    scale = view.score_color_scales["credit"]
    assert (scale.palette, scale.min, scale.max) == ("diverging", 0, 1)


def test_beside_other_scores_the_list_has_no_answer_because_it_may_be_of_another_scorer():
    view = pairwise_viewer(other_scores=["match"]).task_samples_view
    assert [column.id for column in view.columns if column.visible] == [
        "sampleId",
        "score__pairwise__credit",
        "score__pairwise__flip",
        "score__pairwise__unparsed",
        "score__match__match",
        "sampleStatus",
        "input",
        "error",
    ]
    assert "answer" in [column.id for column in view.columns]


def test_the_viewer_of_several_references_names_each_credit():
    view = pairwise_viewer(["lab/ash", "elm"]).task_samples_view
    assert view.score_labels == {
        "credit against lab/ash": "vs ash",
        "flip against lab/ash": "flip",
        "unparsed against lab/ash": "unparsed",
        "credit against elm": "vs elm",
        "flip against elm": "flip",
        "unparsed against elm": "unparsed",
    }
    shown = [column.id for column in view.columns if column.id.startswith("score__")]
    assert shown == [f"score__pairwise__{name}" for name in view.score_labels]
