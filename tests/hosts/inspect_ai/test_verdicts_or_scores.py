"""Logs of one task with scores, with verdicts of `podium/pairwise`, or with both."""

from pathlib import Path

import pytest
from inspect_ai.log import (
    EvalConfig,
    EvalDataset,
    EvalLog,
    EvalResults,
    EvalSample,
    EvalSpec,
    EvalStats,
    read_eval_log,
    write_eval_log,
)
from inspect_ai.scorer import Score

import podium
from podium.errors import DataError, UsageError
from podium.hosts.inspect_ai.hook import rank_logs
from podium.hosts.inspect_ai.logs.podium_entries import BattleVerdict
from podium.notices.notice_text import notice_text

ITEMS = 10
RIGHT = {"lab/old": 4, "lab/mid": 6, "lab/new": 8}
BETTER = {"lab/new": 7, "lab/mid": 5}
"""Number of items on which a judge prefers a model to lab/old."""


def verdict_of(model: str, item: int) -> Score:
    """Return the score of `podium/pairwise` for a response against that of lab/old."""
    credit = float(item < BETTER[model])
    verdict = BattleVerdict(
        item=f"q{item}",
        model_a=model,
        model_b="lab/old",
        judgments=[
            {"order": order, "repeat": 0, "judge": "lab/judge", "credit": credit}
            for order in ("ab", "ba")
        ],
        credit=credit,
    )
    value = {"credit": credit, "flip": 0.0, "unparsed": 0.0}
    return Score(value=value, metadata={"podium": verdict.to_log()})


def undecided(item: int) -> Score:
    """Return the score of a battle of which no judge was asked."""
    verdict = BattleVerdict(
        item=f"q{item}", model_a="lab/new", model_b="lab/old", missing="no response", judgments=[]
    )
    return Score(value={"credit": float("nan")}, metadata={"podium": verdict.to_log()})


def write(
    folder: Path, model: str, *scorers: str, task: str = "advice", judged_as: str = "pairwise"
) -> Path:
    """Write the log of a model with scorers: `match`, `length`, `pairwise` or `undecided`."""
    folder.mkdir(exist_ok=True)
    samples = []
    for k in range(ITEMS):
        scores = {
            "match": Score(value="C" if k * 7 % ITEMS < RIGHT[model] else "I"),
            "length": Score(value=k * RIGHT[model]),
            judged_as: verdict_of(model, k) if "pairwise" in scorers else undecided(k),
        }
        names = [name.replace("pairwise", judged_as) for name in scorers]
        names = [name.replace("undecided", judged_as) for name in names]
        own = {name: scores[name] for name in names}
        samples.append(
            EvalSample(id=f"q{k}", epoch=1, input=f"Question {k}?", target="yes", scores=own)
        )
    judging = {"pairwise", "undecided"} & {*scorers}
    spec = EvalSpec(
        created="2026-01-01T00:00:00+00:00",
        task=task,
        dataset=EvalDataset(),
        model=model,
        config=EvalConfig(),
        task_id=f"{task}-{model}-{'-'.join(scorers)}",
        scorers=[{"name": "podium/pairwise" if judging else "match"}],
    )
    results = EvalResults(total_samples=ITEMS, completed_samples=ITEMS)
    log = EvalLog(status="success", eval=spec, results=results, samples=samples, stats=EvalStats())
    path = folder / f"2026-01-01T00-00-00_{task}_{model.rpartition('/')[2]}.eval"
    write_eval_log(log, str(path))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of the logs."""
    return tmp_path / "logs"


def codes_of(battles: podium.Battles) -> set[str]:
    """Return the codes of what was said while reading."""
    return {note.code for note in (*battles.notes, *battles.lost)}


def models_and_judges(battles: podium.Battles) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the models and the judges of battles."""
    return battles.models, battles.judges


def test_verdicts_against_a_scored_reference_are_ranked_beside_its_log(folder):
    write(folder, "lab/old", "match")
    write(folder, "lab/new", "pairwise")
    battles = podium.read_battles(str(folder))
    assert models_and_judges(battles) == (("lab/new", "lab/old"), ("lab/judge",))
    [note] = [note for note in battles.notes if note.code == "verdicts-count"]
    assert note.fields == {
        "task": "advice",
        "scorers": ["pairwise"],
        "scorer": "pairwise",
        "metric": "match",
        "judged": 2,
        "scored": 1,
    }
    assert "metric='match' takes the scores" in notice_text(note)
    assert not battles.lost


@pytest.mark.fast_cases(4)
@pytest.mark.parametrize("judged_as", ["pairwise", "of_my_own"])
@pytest.mark.parametrize(
    ("scorers", "metric", "is_ranked"),
    [
        (("pairwise",), None, True),
        (("match", "pairwise"), None, True),
        (("match", "pairwise"), "VERDICTS", True),
        (("match", "pairwise"), "match", False),
        (("match",), None, False),
    ],
)
def test_the_first_run_of_a_task_is_ranked_against_the_reference_of_its_verdicts(
    folder, capfd, scorers, metric, is_ranked, judged_as
):
    log = read_eval_log(str(write(folder, "lab/new", *scorers, judged_as=judged_as)), True)
    log.eval.metadata = {"ranker": "win-rate"}
    if metric:
        log.eval.metadata["ranker_metric"] = metric.replace("VERDICTS", judged_as)
    rank_logs([log])
    said = capfd.readouterr().err
    rankings = (log.results.metadata or {}).get("podium", {}).get("rankings", [])
    ranked = {row["model"]: row["win_rate"] for one in rankings for row in one["models"]}
    if is_ranked:
        assert ranked == {"lab/new": 0.7, "lab/old": pytest.approx(0.3)}
        assert "not ranked" not in said
    else:
        assert not ranked
        assert "not ranked: lab/new is the first model in" in said


def test_all_runs_against_a_reference_count_as_further_responses(folder):
    path = write(folder, "lab/new", "pairwise")
    log = read_eval_log(str(path))
    log.eval.task_id = "another run"
    log.eval.created = "2026-01-02T00:00:00+00:00"
    write_eval_log(log, str(path.with_name("2026-01-02T00-00-00_advice_new.eval")))
    assert len(podium.read_battles(str(folder))) == ITEMS
    battles = podium.read_battles(str(folder), runs="all")
    assert len(battles) == 2 * ITEMS
    assert set(battles.table["response"]) == {1, 2}


def test_scores_count_where_they_rank_more_models_than_verdicts(folder):
    for model in RIGHT:
        write(folder, model, "match", *["pairwise"] * (model == "lab/new"))
    battles = podium.read_battles(str(folder))
    assert models_and_judges(battles) == (tuple(sorted(RIGHT)), ())
    [note] = [note for note in battles.notes if note.code == "scores-count"]
    assert (
        "the scores count (3 models), and not the verdicts of pairwise (2 models)"
        in notice_text(note)
    )
    assert "metric='pairwise' takes the verdicts" in notice_text(note)


def test_verdicts_count_where_they_rank_as_many_models_and_who_has_none_is_named(folder):
    write(folder, "lab/old", "match")
    write(folder, "lab/mid", "match")
    write(folder, "lab/new", "pairwise")
    battles = podium.read_battles(str(folder))
    assert models_and_judges(battles) == (("lab/new", "lab/old"), ("lab/judge",))
    [lost] = battles.lost
    assert (lost.code, lost.fields["models"]) == ("models-without-verdicts", ["lab/mid"])


@pytest.mark.parametrize("metric", ["match", "advice match", "all"])
def test_a_metric_that_is_asked_for_is_read_and_verdicts_are_left_alone(folder, metric):
    for model in BETTER:
        write(folder, model, "match", "pairwise")
    battles = podium.read_battles(str(folder), metric=metric)
    assert models_and_judges(battles) == (("lab/mid", "lab/new"), ())
    assert battles.metrics == ("advice match",)
    assert not {"verdicts-count", "scores-count"} & codes_of(battles)


@pytest.mark.slow
def test_scores_of_a_log_with_verdicts_are_those_of_the_same_log_without_them(folder, tmp_path):
    alone = tmp_path / "alone"
    for model in BETTER:
        write(folder, model, "match", "length", "pairwise")
        write(alone, model, "match", "length")
    both = podium.read_battles(str(folder), metric="all")
    wanted = podium.read_battles(str(alone), metric="all")
    assert both.metrics == wanted.metrics == ("advice length", "advice match")
    assert both.to_frame().equals(wanted.to_frame())


@pytest.mark.parametrize("metric", ["pairwise", "advice pairwise"])
def test_verdicts_are_asked_for_by_the_name_of_their_scorer(folder, metric):
    for model in RIGHT:
        write(folder, model, "match", *["pairwise"] * (model == "lab/new"))
    battles = podium.read_battles(str(folder), metric=metric)
    assert models_and_judges(battles) == (("lab/new", "lab/old"), ("lab/judge",))
    [lost] = battles.lost
    assert (lost.code, lost.fields["models"]) == ("models-without-verdicts", ["lab/mid"])


def test_a_scorer_of_verdicts_has_the_name_that_the_log_gives_it(folder):
    write(folder, "lab/old", "match")
    write(folder, "lab/new", "match", "pairwise", judged_as="against_old")
    battles = podium.read_battles(str(folder), metric="against_old")
    assert battles.judges == ("lab/judge",)
    with pytest.raises(UsageError, match="no task has the metric 'pairwise'; there are: advice ag"):
        podium.read_battles(str(folder), metric="pairwise")


def test_verdicts_and_scores_of_one_task_are_not_ranked_together(folder):
    write(folder, "lab/old", "match")
    write(folder, "lab/new", "match", "pairwise")
    with pytest.raises(UsageError, match=r"metric='pairwise' asks for the verdicts .* one of them"):
        podium.read_battles(str(folder), metric=["match", "pairwise"])


@pytest.mark.slow
def test_each_task_has_the_rows_that_are_asked_for(folder):
    write(folder, "lab/old", "match")
    write(folder, "lab/new", "match", "pairwise")
    for model in BETTER:
        write(folder, model, "length", task="essay")
    battles = podium.read_battles(str(folder), metric=["pairwise", "length"])
    by_task = dict(battles.slices("task"))
    assert by_task["advice"].models == ("lab/new", "lab/old")
    assert by_task["essay"].models == ("lab/mid", "lab/new")


def test_a_task_with_verdicts_alone_is_left_out_if_a_metric_of_another_is_asked_for(folder):
    write(folder, "lab/new", "pairwise")
    for model in BETTER:
        write(folder, model, "length", task="essay")
    battles = podium.read_battles(str(folder), metric="length")
    assert models_and_judges(battles) == (("lab/mid", "lab/new"), ())
    [note] = [note for note in battles.notes if note.code == "metric-of-no-run"]
    assert note.fields["tasks"] == ["advice"]


def test_a_task_with_scores_alone_is_left_out_if_verdicts_are_asked_for(folder):
    write(folder, "lab/new", "pairwise")
    for model in BETTER:
        write(folder, model, "length", task="essay")
    battles = podium.read_battles(str(folder), metric="pairwise")
    assert models_and_judges(battles) == (("lab/new", "lab/old"), ("lab/judge",))
    [note] = [note for note in battles.notes if note.code == "metric-of-no-run"]
    assert note.fields["tasks"] == ["essay"]


def test_a_metric_of_no_log_is_named_beside_the_scorers_of_verdicts(folder):
    write(folder, "lab/new", "pairwise")
    with pytest.raises(UsageError, match="no task has the metric 'match'; there are: advice pair"):
        podium.read_battles(str(folder), metric="match")


def test_a_model_with_verdicts_alone_is_named_if_scores_are_asked_for(folder):
    write(folder, "lab/old", "match")
    write(folder, "lab/mid", "match")
    write(folder, "lab/new", "pairwise")
    battles = podium.read_battles(str(folder), metric="match")
    assert battles.models == ("lab/mid", "lab/old")
    [lost] = battles.lost
    assert (lost.code, lost.fields["models"]) == ("models-without-scores", ["lab/new"])
    (folder / "2026-01-01T00-00-00_advice_mid.eval").unlink()
    with pytest.raises(DataError, match=r"scores of one model only .* metric='pairwise' ranks by"):
        podium.read_battles(str(folder), metric="match")


def test_a_log_of_which_no_battle_was_judged_is_named_and_ranked_by_its_scores(folder):
    write(folder, "lab/old", "match")
    write(folder, "lab/new", "match", "undecided")
    battles = podium.read_battles(str(folder))
    assert models_and_judges(battles) == (("lab/new", "lab/old"), ())
    [note] = [note for note in battles.notes if note.code == "battles-not-judged"]
    assert "new.eval: pairwise judged no battle: no response" in notice_text(note)
    assert battles.counts().missing in (0, None)


@pytest.mark.slow
def test_a_label_names_the_model_of_scores_and_of_verdicts(folder):
    old = write(folder, "lab/old", "match")
    new = write(folder, "lab/new", "match", "pairwise")
    battles = podium.read_battles(f"base={old}", f"mine={new}")
    assert battles.models == ("lab/old", "mine")
    assert not battles.lost
    scored = podium.read_battles(f"base={old}", f"mine={new}", metric="match")
    assert scored.models == ("base", "mine")


def test_the_command_ranks_by_either_and_says_what_it_left_out(folder, run_podium):
    for model in RIGHT:
        write(folder, model, "match", *["pairwise"] * (model == "lab/new"))
    code, out, err = run_podium("rank", str(folder))
    assert (code, "lab/mid" in out) == (0, True)
    assert "--metric pairwise takes the verdicts" in err
    code, out, err = run_podium("rank", str(folder), "--metric", "pairwise")
    assert (code, "lab/mid" in out) == (3, False)
    assert "--metric match ranks by scores" in err
    code, _, err = run_podium("compare", "lab/mid", "lab/new", str(folder))
    assert code == 0, err


def test_a_human_judge_leaves_each_log_with_its_verdicts(folder):
    write(folder, "lab/new", "match", "pairwise")
    with pytest.raises(podium.PodiumError, match="the only judge"):
        podium.read_battles(str(folder), human_judge="lab/judge")
