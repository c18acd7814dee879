"""Groups of items in tournaments (`-T cluster=COLUMN`): in the log, and in its ranking."""

import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, get_model
from inspect_ai.scorer import match, mean, scorer, stderr
from inspect_ai.solver import solver
from lm_eval_output import sample, write_run
from played_logs import place

import podium
from podium.errors import UsageError
from podium.hosts.inspect_ai.hook import rank_logs
from podium.hosts.inspect_ai.inspect_options import CHECKED_VARIABLE, form_of_options
from podium.hosts.inspect_ai.logs.response_reader import READER
from podium.hosts.inspect_ai.tasks import recorded_task, ring, round_robin
from podium.hosts.lm_eval.lm_eval_options import typed_for_judge_in_lm_eval, typed_in_lm_eval
from podium.notices.option_forms import option_text, typed_as
from podium.responses.read import read_responses

QUALITY = {"ash": 1, "elm": 2, "oak": 3}


def passage_of(k: int) -> str:
    """Return the passage of an item: each has two."""
    return f"p{k // 2}"


@pytest.mark.slow
@pytest.mark.parametrize("pack", [False, True])
def test_the_log_of_a_tournament_holds_its_groups_and_is_ranked_by_them(
    play, record, write_responses, run_podium, pack
):
    responses = write_responses(passage=passage_of)
    log = play(round_robin(responses=responses, cluster="passage", pack=pack), log_dir="logs")
    assert log.eval.metadata["podium_cluster"] == "passage"
    battles = podium.read_battles(str(place(log)))
    assert battles.group == "passage"
    table = battles.table.astype(str)
    expected = table["item"].str.removeprefix("q").astype(int).map(passage_of)
    assert table["passage"].tolist() == expected.tolist()
    [shown] = log.results.metadata["podium"]["rankings"]
    assert (shown["counts"]["items"], shown["counts"]["groups"]) == (6, 3)
    code, out, err = run_podium("rank", str(place(log)))
    assert code == 0, err
    assert "passage-clustered sandwich" in out
    assert "3 passages, 6 items" in out


@pytest.mark.slow
def test_failed_battles_have_the_group_and_the_category_of_their_item(
    play, behave, record, write_responses
):
    behave(errors=0.5)
    responses = write_responses(passage=passage_of, category=lambda k: f"c{k % 2}")
    log = play(round_robin(responses=responses, cluster="passage"), log_dir="logs")
    table = podium.read_battles(str(place(log)), cluster="passage").table.astype(str)
    assert (table["reason"] == "failed: RuntimeError").any()
    numbers = table["item"].str.removeprefix("q").astype(int)
    assert table["passage"].tolist() == numbers.map(passage_of).tolist()
    assert table["category"].tolist() == [f"c{k % 2}" for k in numbers]
    [shown] = log.results.metadata["podium"]["rankings"]
    assert shown["counts"]["groups"] == 3


@pytest.mark.slow
def test_without_the_option_each_item_is_independent(play, record, write_responses):
    log = play(round_robin(responses=write_responses(passage=passage_of)), log_dir="logs")
    assert "podium_cluster" not in log.eval.metadata
    assert podium.read_battles(str(place(log))).group is None


@pytest.mark.slow
def test_interim_analyses_take_the_groups(play, record, write_responses):
    responses = write_responses(items=40, passage=lambda k: f"p{k // 8}")
    with pytest.raises(Exception, match="needs 10 passages to estimate an error, and there are 5"):
        round_robin(responses=responses, cluster="passage", until="order")
    responses = write_responses(items=60, passage=lambda k: f"p{k // 5}")
    log = play(ring(responses=responses, cluster="passage", until="order"), log_dir="logs")
    answer = podium.read_battles(str(place(log))).answer
    assert "12 passages" in " ".join(answer["decisions"])


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ({"passage": lambda k: f"p{k}" if k < 4 else None}, "2 items have no value"),
        ({"passage": "p1"}, "all items have the value 'p1'"),
        ({}, "no item in .* has it; name a column of the table"),
    ],
)
def test_a_column_that_gives_no_groups_is_refused_before_any_call(
    record, write_responses, column, message
):
    with pytest.raises(Exception, match=f"cluster.*passage.*: {message}"):
        round_robin(responses=write_responses(**column), cluster="passage")
    assert record.calls == 0


@pytest.mark.parametrize("column", ["judge", "reply", "human", "voter", "weight", "label", "jury"])
def test_a_column_of_verdicts_is_refused(record, write_responses, column):
    with pytest.raises(Exception, match=f"cluster.*{column}.*: the column does not group items"):
        round_robin(responses=write_responses(**{column: passage_of}), cluster=column)


@pytest.mark.slow
def test_the_category_may_be_the_group(play, record, write_responses):
    responses = write_responses(category=passage_of)
    battles = podium.read_battles(
        str(place(play(round_robin(responses=responses, cluster="category"), log_dir="logs")))
    )
    assert battles.group == "category"
    assert sorted(battles.table["category"].unique()) == ["p0", "p1", "p2"]


def test_an_item_with_two_groups_is_an_error(record, write_responses, tmp_path):
    one = write_responses({"ash": 1.2}, passage=passage_of)
    two = write_responses({"elm": 1.9}, passage=lambda k: f"p{k // 3}")
    with pytest.raises(Exception, match=r"item 'q2' has another group here .*same in all rows"):
        round_robin(responses=[*one, *two], cluster="passage")


@solver
def answering():
    """Answer with the quality of the model."""

    async def solve(state, generate):
        name = str(state.model).rpartition("/")[2]
        state.output = ModelOutput.from_content(name, f"answer quality={QUALITY[name]}")
        state.completed = True
        return state

    return solve


@scorer(metrics=[mean(), stderr(cluster="passage")])
def clustered_match():
    """Score as `match` does, with errors clustered by passage."""
    return match()


def logs_of(score) -> list[str]:
    """Return logs of three models on six samples of three passages."""
    dataset = [
        Sample(id=f"q{k}", input=f"Q {k}?", target="yes", metadata={"passage": passage_of(k)})
        for k in range(6)
    ]
    task = Task(dataset, solver=answering(), scorer=score, name="quiz")
    models = [get_model(f"scripted/{name}") for name in QUALITY]
    return [str(place(log)) for log in eval(task, model=models, log_dir="evals")]


def test_metadata_of_logs_and_the_tasks_own_clusters_give_groups(play, record):
    logs = logs_of(match())
    read = read_responses(*logs, readers=(READER,), cluster="passage")
    assert {item.id: item.group for item in read.items} == {
        f"q{k}": passage_of(k) for k in range(6)
    }
    assert read_responses(*logs, readers=(READER,)).cluster is None
    own = read_responses(*logs_of(clustered_match()), readers=(READER,))
    assert (own.cluster, own.items[3].group) == ("passage", "p1")


@pytest.mark.slow
def test_a_judge_of_recorded_battles_has_their_groups(play, record, write_responses):
    responses = write_responses(passage=passage_of)
    log = play(round_robin(responses=responses, cluster="passage"), log_dir="logs")
    again = play(recorded_task(battles=str(place(log))), log_dir="more")
    assert podium.read_battles(str(place(again))).group == "passage"
    with pytest.raises(Exception, match=r"cluster=chapter: these logs have the groups 'passage'"):
        recorded_task(battles=str(place(log)), cluster="chapter")


def test_samples_of_lm_eval_have_groups_in_their_documents(tmp_path):
    for model in ("org/ash", "org/elm"):
        rows = [sample(f"q{k}", {}, place=k) for k in range(6)]
        for k, row in enumerate(rows):
            row["doc"]["passage"] = passage_of(k)
            row["resps"] = [[f"answer {k} of {model}"]]
        write_run(tmp_path, model, {"quiz": rows})
    read = read_responses(tmp_path, cluster="passage")
    assert [item.group for item in read.items] == [passage_of(k) for k in range(6)]
    with pytest.raises(UsageError, match="no item in"):
        read_responses(tmp_path, cluster="chapter")


@pytest.mark.slow
@pytest.mark.parametrize("pack", [False, True])
def test_a_log_keeps_columns_that_divide_the_items_without_an_option(
    play, record, write_responses, run_podium, pack
):
    # ash is better in half of the passages, and worse in the others.
    texts = {
        (model, k): f"answer {k} quality={quality if (k // 5) % 2 else -quality}"
        for k in range(100)
        for model, quality in (("ash", 1), ("elm", 2))
    }
    responses = write_responses(
        {"ash": 1, "elm": 2},
        items=100,
        texts=texts,
        passage=lambda k: f"p{k // 5}",
        level=lambda k: 1 + k % 2,
        title=lambda k: f"title {k}",
        reply=passage_of,
    )
    log = play(round_robin(responses=responses, pack=pack), log_dir="logs")
    kept = log.eval.metadata["podium_item_columns"]
    assert sorted(kept) == ["level", "passage"]
    battles = podium.read_battles(str(place(log)))
    assert battles.group is None
    table = battles.table.astype(str)
    numbers = table["item"].str.removeprefix("q").astype(int)
    assert table["passage"].tolist() == [f"p{k // 5}" for k in numbers]
    assert table["level"].tolist() == [f"{1 + k % 2}" for k in numbers]
    code, out, err = run_podium("rank", str(place(log)))
    assert code == 0, err
    assert "--cluster passage" in out
    [shown] = log.results.metadata["podium"]["rankings"]
    assert "passage" in " ".join(shown["answer"])
    code, out, err = run_podium("rank", str(place(log)), "--cluster", "passage")
    assert code == 0, err
    assert "20 passages, 100 items" in out


@pytest.mark.slow
def test_a_tournament_that_stops_claims_no_decision_if_a_column_groups_alike_items(
    play, record, write_responses
):
    """A passage favours one of three models: `ash` in 14 of 20. With the option, it is decided."""
    favoured = ["ash"] * 14 + ["elm"] * 3 + ["oak"] * 3
    texts = {}
    for k in range(80):
        for name in QUALITY:
            quality = 1.0 + 2.0 * (name == favoured[k // 4])
            texts[name, k] = f"answer {k} quality={quality}"
    responses = write_responses(QUALITY, 80, texts, passage=lambda k: f"p{k // 4}")
    log = play(ring(responses=responses, until="order", passes=1), log_dir="logs")
    answer = podium.read_battles(str(place(log))).answer
    assert answer["decisions"][0].startswith("No decision is claimed: items of one passage favour")
    assert "with cluster='passage'" in answer["decisions"][0], "as typed in Python"
    assert not any("95%" in sentence for sentence in answer["decisions"])
    grouped = play(ring(responses=responses, until="order", cluster="passage"), log_dir="logs")
    answer = podium.read_battles(str(place(grouped))).answer
    assert "95%" in answer["decisions"][0]


@pytest.mark.parametrize(
    ("form", "typed"),
    [
        (form_of_options({}, tournament=True), "-T cluster=passage"),
        (form_of_options({CHECKED_VARIABLE: "true"}, tournament=True), "-T cluster=passage"),
        (form_of_options({}, judged=True), "--metadata ranker_args=cluster=passage"),
        (form_of_options({CHECKED_VARIABLE: "true"}, judged=True), "--ranker-args cluster=passage"),
        (typed_for_judge_in_lm_eval, "--ranker_args cluster=passage"),
        (form_of_options({}), "--metadata ranker_cluster=passage"),
        (form_of_options({CHECKED_VARIABLE: "true"}), "--ranker-cluster passage"),
        (typed_in_lm_eval, "--ranker_cluster passage"),
    ],
)
def test_groups_are_an_argument_where_a_judge_compares(form, typed):
    """A host refuses the option without a ranker, and beside a judge."""
    with typed_as(form):
        assert option_text("cluster", "passage") == typed


@pytest.mark.slow
def test_the_answer_beside_a_tournament_names_what_the_tournament_takes(
    play, record, write_responses, capfd
):
    texts = {
        (model, k): f"answer {k} quality={quality if (k // 5) % 2 else -quality}"
        for k in range(100)
        for model, quality in (("ash", 1), ("elm", 2))
    }
    responses = write_responses({"ash": 1, "elm": 2}, 100, texts, passage=lambda k: f"p{k // 5}")
    log = play(round_robin(responses=responses), log_dir="logs")
    capfd.readouterr()
    assert rank_logs([log])
    printed = " ".join("".join(capfd.readouterr()).split())
    assert "take these groups as the unit with -T cluster=passage" in printed
    assert "ranker_cluster" not in printed
