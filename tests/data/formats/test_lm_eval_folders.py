"""lm-eval's output folders: scores become battles where task, document and target agree.

Oracles: the figures that lm-eval itself reports (written by the host where it is installed, else
their closed form, the mean), and credits counted by hand.
"""

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lm_eval_output import LATER, TIME, sample, scored, write_run

import podium
from podium.data.formats.lm_eval_layout import item_ids, read_doc_hash
from podium.notices.notice_text import notice_texts
from podium.ranking.rank_battles import rank

A = [1.0, 1.0, 0.0, 1.0]
B = [1.0, 0.0, 0.0, 0.0]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Two models on one task: both right, a right, both wrong, a right."""
    write_run(tmp_path, "org/a", {"t": scored(A)})
    write_run(tmp_path, "org/b", {"t": scored(B)})
    return tmp_path


def credits(battles: podium.Battles) -> list[Any]:
    return list(battles.table.sort_values("item")["credit"])


def scores_by_mean(*sources: Any, **options: Any) -> dict[str, float | None]:
    return {
        one.model: one.score
        for one in rank(podium.read_battles(*sources, **options), "mean").standings[0].entries
    }


def test_a_document_that_one_model_gets_right_is_won_and_others_are_ties(out: Path) -> None:
    battles = podium.read_battles(out)
    found = dict(zip(battles.table["item"].astype(str), battles.table["credit"], strict=True))
    hashes = {k: sample(f"q{k}", {})["doc_hash"][:12] for k in range(4)}
    assert found == {
        f"t:{hashes[0]}": 0.5,
        f"t:{hashes[1]}": 1,
        f"t:{hashes[2]}": 0.5,
        f"t:{hashes[3]}": 1,
    }


@pytest.mark.slow
def test_the_mean_score_is_the_figure_that_lm_eval_reports(out: Path) -> None:
    reported = {
        content["model_name"]: content["results"]["t"]["acc,none"]
        for content in (json.loads(path.read_text()) for path in out.rglob("results_*.json"))
    }
    assert scores_by_mean(out) == reported


@pytest.mark.slow
def test_the_win_rate_of_two_is_a_half_plus_half_the_difference_of_their_accuracies(
    out: Path,
) -> None:
    """Closed form: credit is (1 + acc_a - acc_b) / 2 document by document."""
    entries = rank(podium.read_battles(out), "win-rate").standings[0].entries
    assert {one.model: one.score for one in entries}["org/a"] == pytest.approx(
        (1 + np.mean(A) - np.mean(B)) / 2
    )


@pytest.mark.slow
def test_the_items_on_which_models_differ_are_counted(out: Path) -> None:
    assert podium.read_battles(out).tally.informative == 2


@pytest.mark.slow
def test_folders_given_one_by_one_with_labels_are_the_same_battles(out: Path) -> None:
    battles = podium.read_battles(f"x={out}/org__a", f"y={out}/org__b")
    assert (battles.models, credits(battles)) == (("x", "y"), credits(podium.read_battles(out)))


def test_results_files_stand_for_their_runs(out: Path) -> None:
    battles = podium.read_battles(
        *(f"{name}={out}/org__{name}/results_{TIME}.json" for name in "ab")
    )
    assert (battles.models, len(battles)) == (("a", "b"), 4)


@pytest.mark.slow
def test_models_that_share_a_folder_are_distinguishable_by_their_results(tmp_path: Path) -> None:
    for name, values, time in (("org/a", A, TIME), ("org/b", B, LATER)):
        write_run(tmp_path, name, {"t": scored(values)}, time=time, one_folder=True)
    assert scores_by_mean(tmp_path) == {"org/a": 0.75, "org/b": 0.25}


@pytest.mark.slow
def test_documents_meet_whatever_their_place_and_their_prompt(tmp_path: Path) -> None:
    """--limit, --samples and a chat template change doc_id and prompt_hash, not doc_hash."""
    write_run(tmp_path, "a", {"t": scored(A)})
    moved = [row | {"doc_id": row["doc_id"] - 2, "prompt_hash": "other"} for row in scored(B)[2:]]
    write_run(tmp_path, "b", {"t": moved})
    battles = podium.read_battles(tmp_path)
    assert (sorted(credits(battles)), battles.missing) == ([0.5, 1.0], 2)
    [finding] = battles.questions
    assert (finding.pairing, finding.unshared) == ("input", {})


@pytest.mark.slow
def test_documents_of_one_model_alone_are_counted(tmp_path: Path) -> None:
    write_run(tmp_path, "a", {"t": scored(A)})
    write_run(tmp_path, "b", {"t": scored(B)[2:]})
    battles = podium.read_battles(tmp_path)
    assert (sorted(credits(battles)), battles.missing) == ([0.5, 1.0], 2)
    assert "t: not all have the same documents (a: 4, b: 2); 2 are common to all" in notice_texts(
        battles.notes
    )


@pytest.mark.slow
def test_one_document_that_all_have_is_one(tmp_path: Path) -> None:
    write_run(tmp_path, "a", {"t": scored(A)})
    write_run(tmp_path, "b", {"t": scored(B)[3:]})
    notes = notice_texts(podium.read_battles(tmp_path).notes)
    assert "t: not all have the same documents (a: 4, b: 1); 1 is common to all" in notes


@pytest.mark.slow
def test_a_document_that_a_set_holds_twice_is_two_items_in_the_order_of_the_set(
    tmp_path: Path,
) -> None:
    """Two processes write their rows one after the other: b's second document comes first."""
    twice = [sample("q", {"acc": value}, place=k) for k, value in enumerate([1.0, 0.0])]
    write_run(tmp_path, "a", {"t": twice})
    write_run(tmp_path, "b", {"t": twice[::-1]})
    assert credits(podium.read_battles(tmp_path)) == [0.5, 0.5]


def test_occurrences_are_counted_filter_by_filter() -> None:
    rows = [("strict", "h" * 64, 0.0), ("loose", "h" * 64, 0.0), ("strict", "h" * 64, 1.0)]
    assert item_ids("t", rows) == ["t:hhhhhhhhhhhh", "t:hhhhhhhhhhhh", "t:hhhhhhhhhhhh#2"]


def test_half_a_character_in_a_hash_is_kept_for_the_error_that_names_it() -> None:
    assert item_ids("t", [("none", "\ud83d", 1.0), ("none", "\ud83d", 0.0)]) == [
        "t:\ud83d#2",
        "t:\ud83d",
    ]


def test_a_row_without_the_hash_is_hashed_as_lm_eval_does() -> None:
    """Oracle: the hash that lm-eval 0.4.13 wrote for this document."""
    row = {"doc": {"q": "3+2=", "choices": ["5", "6", "8"], "gold": 0}}
    assert read_doc_hash(row) == "6f6b7cab1b6478f65e1f61be53d34ec9bbfc3647393af2afe7a9763e320b7362"


@pytest.mark.slow
def test_lm_eval_rejects_scores_with_different_targets_and_names_both_files(tmp_path: Path) -> None:
    write_run(tmp_path, "a", {"t": scored(A)})
    write_run(tmp_path, "b", {"t": [*scored(B)[:3], *scored(B, target="no")[3:]]})
    battles = podium.read_battles(tmp_path)
    note_text = next(note for note in notice_texts(battles.notes) if "different targets" in note)
    assert (sorted(credits(battles)), battles.missing) == ([0.5, 0.5, 1.0], 2)
    assert [
        part
        for part in (f"a/samples_t_{TIME}", f"b/samples_t_{TIME}", "line 4", "1 document of t")
        if part not in note_text
    ] == []


@pytest.mark.slow
def test_three_places_of_a_document_with_different_targets_are_named(tmp_path: Path) -> None:
    for name in "abcde":
        rows = [*scored(A)[:3], *scored(A, target=name)[3:]]
        write_run(tmp_path, name, {"t": rows})
    battles = podium.read_battles(tmp_path)
    note_text = next(note for note in notice_texts(battles.notes) if "different targets" in note)
    assert note_text.count("samples_t") == 3
    assert note_text.endswith("and 2 more")


def test_without_a_common_target_there_is_nothing_to_compare(tmp_path: Path) -> None:
    write_run(tmp_path, "a", {"t": scored(A)})
    write_run(tmp_path, "b", {"t": scored(B, target="no")})
    with pytest.raises(
        podium.DataError, match=r"nothing to compare: .*a/samples_t.*no document or target of a"
    ):
        podium.read_battles(tmp_path)


@pytest.mark.slow
def test_one_metric_with_two_filters_must_be_chosen(tmp_path: Path) -> None:
    for name, values in (("a", A), ("b", B)):
        rows = [*scored(values, "em", filter_="strict"), *scored(B, "em", filter_="flexible")]
        write_run(tmp_path, name, {"t": rows})
    with pytest.raises(
        podium.NotIdentifiedError, match=r"em,strict \| em,flexible \(t\).*metric='em,strict'"
    ):
        podium.read_battles(tmp_path, metric="em")
    # Without a name the first one in the table that lm-eval prints counts.
    assert podium.read_battles(tmp_path).metrics == ("em,flexible",)
    assert credits(podium.read_battles(tmp_path, metric="em,flexible")) == [0.5] * 4
    assert sorted(credits(podium.read_battles(tmp_path, metric="em,strict"))) == [
        0.5,
        0.5,
        1.0,
        1.0,
    ]


@pytest.fixture
def two_metrics(tmp_path: Path) -> Path:
    """Accuracy says a, its normed form says b."""
    for name, plain, normed in (("a", A, B), ("b", B, A)):
        rows = [
            sample(f"q{k}", {"acc": x, "acc_norm": y})
            for k, (x, y) in enumerate(zip(plain, normed, strict=True))
        ]
        write_run(tmp_path, name, {"t": rows})
    return tmp_path


@pytest.mark.slow
def test_the_first_of_several_metrics_counts_and_the_others_are_named(two_metrics: Path) -> None:
    battles = podium.read_battles(two_metrics)
    assert battles.metrics == ("acc,none",)
    [note] = [note for note in battles.notes if note.code == "other-metrics"]
    assert note.fields == {"chosen": ["acc,none"], "others": ["acc_norm,none"]}
    assert podium.read_battles(two_metrics, metric="all").metrics == ("acc,none", "acc_norm,none")


@pytest.mark.slow
def test_the_chosen_metric_decides(two_metrics: Path) -> None:
    assert scores_by_mean(two_metrics, metric="acc") == {"a": 0.75, "b": 0.25}
    assert scores_by_mean(two_metrics, metric="acc_norm,none") == {"a": 0.25, "b": 0.75}


@pytest.mark.slow
def test_all_metrics_are_ranked_apart(two_metrics: Path) -> None:
    ranking = rank(podium.read_battles(two_metrics, metric="all"), "mean", by="metric")
    assert [(one.slice, one.entries[0].model) for one in ranking.standings] == [
        ("acc,none", "a"),
        ("acc_norm,none", "b"),
    ]


def test_a_metric_that_is_not_there_is_rejected_with_those_that_are(out: Path) -> None:
    with pytest.raises(
        podium.UsageError, match=r"no task has the metric 'f1'; there are: acc,none \(t\)"
    ):
        podium.read_battles(out, metric="f1")


@pytest.mark.slow
def test_lower_is_better_where_the_results_say_so_and_scores_say_that_they_are_negated(
    tmp_path: Path,
) -> None:
    for name, values in (("a", [0.25, 0.5]), ("b", [0.75, 0.5])):
        write_run(tmp_path, name, {"t": scored(values, "wer")}, higher={"wer": False})
    battles = podium.read_battles(tmp_path)
    assert sorted(credits(battles)) == [0.5, 1.0]
    assert (battles.metrics, scores_by_mean(tmp_path)) == (
        ("wer,none (negated)",),
        {"a": -0.375, "b": -0.625},
    )
    assert any(
        "lower is better, so scores are negated" in note for note in notice_texts(battles.notes)
    )


def test_results_that_contradict_each_other_on_what_is_better_are_rejected(tmp_path: Path) -> None:
    write_run(tmp_path, "a", {"t": scored(A)})
    write_run(tmp_path, "b", {"t": scored(B)}, higher={"acc": False})
    with pytest.raises(
        podium.DataError, match=r"b/results_.*higher acc of t is better by .*a/results_"
    ):
        podium.read_battles(tmp_path)


@pytest.mark.slow
def test_the_lower_perplexity_wins_although_its_documents_hold_log_likelihoods(
    tmp_path: Path,
) -> None:
    """lm-eval reports exp(-mean) and that lower is better; a document's value is the
    log-likelihood."""
    for name, values in (("a", [-0.5, -0.25]), ("b", [-0.75, -1.0])):
        figures = {"t": {"perplexity,none": float(np.exp(-np.mean(values)))}}
        write_run(
            tmp_path,
            name,
            {"t": scored(values, "perplexity")},
            higher={"perplexity": False},
            figures=figures,
        )
    battles = podium.read_battles(tmp_path)
    assert (credits(battles), battles.metrics) == (
        [1.0, 1.0],
        ("perplexity,none (log-likelihood)",),
    )


def test_a_perplexity_without_results_is_known_by_its_name(tmp_path: Path) -> None:
    for name, values in (("a", [-0.5]), ("b", [-0.75])):
        write_run(tmp_path, name, {"t": scored(values, "perplexity")}, results=False)
    assert podium.read_battles(tmp_path).metrics == ("perplexity,none (log-likelihood)",)


def test_a_figure_per_document_that_is_called_perplexity_is_one_where_its_mean_is_reported(
    tmp_path: Path,
) -> None:
    for name, values in (("a", [2.0, 3.0]), ("b", [4.0, 5.0])):
        write_run(tmp_path, name, {"t": scored(values, "perplexity")}, higher={"perplexity": False})
    battles = podium.read_battles(tmp_path)
    assert (credits(battles), battles.metrics) == ([1.0, 1.0], ("perplexity,none (negated)",))


@pytest.mark.parametrize("value", [["yes", "Yes."], [-0.25, 4], "Yes.", {"x": 1}])
def test_a_metric_without_a_number_per_document_is_rejected_by_name(
    tmp_path: Path, value: Any
) -> None:
    for name in "ab":
        write_run(tmp_path, name, {"t": scored([value] * 2, "bleu")})
    with pytest.raises(
        podium.NotIdentifiedError,
        match=r"bleu,none of t: per document it is (a list,|not a number \()",
    ):
        podium.read_battles(tmp_path, metric="bleu")


def test_a_task_without_any_metric_says_that_a_judge_can_compare(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_run(tmp_path, name, {"t": [sample("q0", {})]})
    with pytest.raises(
        podium.NotIdentifiedError,
        match=r"to compare: t has no metric; let a judge compare the responses: `inspect eval",
    ) as refused:
        podium.read_battles(tmp_path)
    assert f"responses={tmp_path} --model-role" in str(refused.value)


def test_folders_of_runs_without_a_metric_are_named_each_if_they_lie_apart(tmp_path: Path) -> None:
    places = [tmp_path / "x", tmp_path / "deep" / "y"]
    for name, place in zip("ab", places, strict=True):
        write_run(place, name, {"t": [sample("q0", {})]})
    with pytest.raises(podium.NotIdentifiedError) as refused:
        podium.read_battles(*map(str, places))
    folders = ",".join(str(place / name) for name, place in zip("ab", places, strict=True))
    assert f"responses={folders} --model-role" in str(refused.value)


def test_the_one_metric_with_numbers_is_taken_where_others_have_none(tmp_path: Path) -> None:
    for name, values in (("a", A), ("b", B)):
        write_run(
            tmp_path,
            name,
            {"t": [sample(f"q{k}", {"acc": x, "bleu": ["a", "b"]}) for k, x in enumerate(values)]},
        )
    assert podium.read_battles(tmp_path).metrics == ("acc,none",)


def test_a_run_that_only_predicted_has_nothing_to_compare(tmp_path: Path) -> None:
    for name in "ab":
        write_run(tmp_path, name, {"t": scored([None, None], "bypass")})
    with pytest.raises(
        podium.NotIdentifiedError, match="bypass,none of t: it has no value for any document"
    ):
        podium.read_battles(tmp_path)


def test_no_value_is_missing_and_an_infinite_one_unparsed_and_neither_a_zero(
    tmp_path: Path,
) -> None:
    write_run(tmp_path, "a", {"t": scored([1.0, None, float("nan"), float("inf")])})
    write_run(tmp_path, "b", {"t": scored([0.0, 0.0, 0.0, 0.0])})
    battles = podium.read_battles(tmp_path)
    assert battles.unparsed_reasons() == {"acc,none is infinite": 1}
    assert (battles.counts().readable, battles.counts().missing) == (1, 2)


@pytest.mark.slow
def test_a_metric_that_some_documents_lack_is_missing_there(tmp_path: Path) -> None:
    write_run(
        tmp_path, "a", {"t": [sample("q0", {"acc": 1.0, "f1": 0.5}), sample("q1", {"acc": 1.0})]}
    )
    write_run(
        tmp_path,
        "b",
        {"t": [sample("q0", {"acc": 1.0, "f1": 0.25}), sample("q1", {"acc": 1.0, "f1": 0.0})]},
    )
    counts = podium.read_battles(tmp_path, metric="f1").counts()
    assert (counts.readable, counts.unparsed, counts.missing) == (1, 0, 1)


@pytest.mark.slow
def test_lm_eval_reads_and_reports_the_newest_of_two_runs_of_a_model(out: Path) -> None:
    write_run(out, "org/a", {"t": scored([0.0] * 4)}, time=LATER)
    battles = podium.read_battles(out)
    note_text = next(note for note in notice_texts(battles.notes) if "run 2 times" in note)
    assert scores_by_mean(out) == {"org/a": 0.0, "org/b": 0.25}
    assert note_text.index(LATER) < note_text.index(TIME)


@pytest.mark.slow
def test_all_runs_of_a_model_are_responses_of_their_own_where_that_is_requested(
    tmp_path: Path,
) -> None:
    for name, first, second in (("a", A, B), ("b", B, B)):
        for time, values in ((TIME, first), (LATER, second)):
            write_run(tmp_path, name, {"t": scored(values)}, time=time)
    battles = podium.read_battles(tmp_path, runs="all")
    by_run = battles.table.groupby("response")["credit"].sum().to_dict()
    assert (by_run, battles.counts().items) == ({1.0: 3.0, 2.0: 2.0}, 4)


@pytest.mark.slow
def test_another_revision_in_the_same_folder_is_another_model(tmp_path: Path) -> None:
    for revision, values, time in (("x", A, TIME), ("y", B, LATER)):
        arguments = {"pretrained": "org/a", "revision": revision}
        write_run(tmp_path, "org/a", {"t": scored(values)}, time=time, arguments=arguments)
    assert scores_by_mean(tmp_path) == {"org/a (revision=x)": 0.75, "org/a (revision=y)": 0.25}
    home = tmp_path / "org__a"
    labels = [f"a-{k}={home}/results_{time}.json" for k, time in ((1, TIME), (2, LATER))]
    assert scores_by_mean(*labels) == {"a-1": 0.75, "a-2": 0.25}


def test_another_batch_size_is_the_same_model(tmp_path: Path) -> None:
    write_run(tmp_path, "b", {"t": scored(B)})
    for size, time in ((1, TIME), (8, LATER)):
        write_run(
            tmp_path,
            "a",
            {"t": scored(A)},
            time=time,
            arguments={"pretrained": "a", "batch_size": size},
        )
    assert podium.read_battles(tmp_path).models == ("a", "b")


def test_arguments_written_as_text_are_compared_too(tmp_path: Path) -> None:
    for revision, time in (("x", TIME), ("y", LATER)):
        home = write_run(tmp_path, "a", {"t": scored(A)}, time=time)
        path = home / f"results_{time}.json"
        content = json.loads(path.read_text()) | {
            "config": {"model_args": f"pretrained=a,revision={revision}"}
        }
        path.write_text(json.dumps(content))
    assert podium.read_battles(tmp_path).models == ("a (revision=x)", "a (revision=y)")


@pytest.mark.fast_cases(1)
@pytest.mark.parametrize("given", ["pretrained=a,max_length=4096", {"max_length": 4096.0}])
def test_a_number_written_as_text_is_the_same_setting(tmp_path: Path, given: Any) -> None:
    write_run(tmp_path, "b", {"t": scored(B)})
    for arguments, time in (({"pretrained": "a", "max_length": 4096}, TIME), (given, LATER)):
        home = write_run(tmp_path, "a", {"t": scored(A)}, time=time)
        path = home / f"results_{time}.json"
        known = {"pretrained": "a"} | arguments if isinstance(arguments, dict) else arguments
        content = json.loads(path.read_text()) | {"config": {"model_args": known}}
        path.write_text(json.dumps(content))
    assert podium.read_battles(tmp_path).models == ("a", "b")


def test_secrets_and_ways_to_run_a_model_are_in_no_name_and_no_record(tmp_path: Path) -> None:
    write_run(tmp_path, "b", {"t": scored(B)})
    for k, time in enumerate((TIME, LATER)):
        arguments = {"pretrained": "a", "api_key": f"sk-{k}", "hf_token": f"t{k}", "device": k}
        write_run(tmp_path, "a", {"t": scored(A)}, time=time, arguments=arguments)
    battles = podium.read_battles(tmp_path)
    assert battles.models == ("a", "b")
    assert "sk-" not in str(battles.runs)


def test_one_model_in_two_folders_is_rejected_with_labels_as_remedy(tmp_path: Path) -> None:
    for place, values in (("one", A), ("two", B)):
        write_run(tmp_path / place, "org/a", {"t": scored(values)})
    with pytest.raises(
        podium.UsageError,
        match=rf"lies in two folders.*a-1={tmp_path}/one/org__a a-2={tmp_path}/two",
    ):
        podium.read_battles(tmp_path)


SETTINGS = [
    {"temperature": 0, "top_p": 1},
    {"temperature": 0.7, "top_p": 1},
    "temperature=1.3,top_p=1",
]


@pytest.mark.slow
def test_runs_with_other_settings_of_generation_are_models_named_by_what_differs(
    tmp_path: Path,
) -> None:
    for k, (settings, values) in enumerate(zip(SETTINGS, (A, B, A), strict=True)):
        write_run(tmp_path / f"t{k}", "org/smol", {"t": scored(values)}, generation=settings)
    names = [f"org/smol (temperature={value})" for value in ("0", "0.7", "1.3")]
    for sources in ([tmp_path], [tmp_path / f"t{k}" for k in range(3)]):
        battles = podium.read_battles(*sources)
        assert battles.models == tuple(names)
        assert (
            f"runs of org/smol with other settings count as different models: {', '.join(names)}"
            in notice_texts(battles.notes)
        )


@pytest.mark.slow
def test_a_run_without_settings_keeps_its_name_and_a_label_is_never_changed(tmp_path: Path) -> None:
    for name, settings in (
        ("one", None),
        ("two", {"temperature": 1}),
        ("three", {"temperature": 2}),
    ):
        write_run(tmp_path / name, "smol", {"t": scored(A)}, generation=settings)
    battles = podium.read_battles(tmp_path / "one", tmp_path / "two", f"warm={tmp_path / 'three'}")
    assert battles.models == ("smol", "smol (temperature=1)", "warm")


def test_labels_proposed_for_runs_with_the_same_settings_hold_no_setting(tmp_path: Path) -> None:
    for name, heat in (("one", 1), ("two", 1), ("three", 2)):
        write_run(tmp_path / name, "org/smol", {"t": scored(A)}, generation={"temperature": heat})
    with pytest.raises(
        podium.UsageError, match=rf"label them \(smol-1={tmp_path}/one/org__smol smol-2="
    ):
        podium.read_battles(tmp_path)


def test_a_newer_run_with_the_same_settings_replaces_the_older(tmp_path: Path) -> None:
    write_run(tmp_path, "elm", {"t": scored(B)})
    for time, values in ((TIME, A), (LATER, B)):
        write_run(tmp_path, "smol", {"t": scored(values)}, time=time, generation={"temperature": 1})
    battles = podium.read_battles(tmp_path)
    assert battles.models == ("elm", "smol")
    assert any(
        "smol was run 2 times on t: the newest counts" in note
        for note in notice_texts(battles.notes)
    )


@pytest.mark.slow
def test_a_label_may_hold_an_equals_sign_before_a_path_that_exists(out: Path) -> None:
    assert podium.read_battles(f"org/a t=0={out}/org__a", f"b={out}/org__b").models == (
        "b",
        "org/a t=0",
    )


@pytest.mark.slow
def test_tasks_of_one_model_in_two_folders_belong_together(tmp_path: Path) -> None:
    for task in ("t", "u"):
        for name, values in (("a", A), ("b", B)):
            write_run(tmp_path / task, name, {task: scored(values)})
    assert podium.read_battles(tmp_path).values_of("task") == ("t", "u")


def test_a_source_given_twice_is_read_once(out: Path) -> None:
    assert (
        len(podium.read_battles(out, out / "org__a", out / "." / "org__b" / ".." / "org__b")) == 4
    )


def test_a_label_cannot_name_two_models(out: Path) -> None:
    with pytest.raises(
        podium.UsageError,
        match="label 'x' stands for one model, and its files are of 2: org/a, org/b",
    ):
        podium.read_battles(f"x={out}")


@pytest.mark.slow
def test_a_label_stands_for_one_model_some_of_whose_results_are_gone(out: Path) -> None:
    home = write_run(out, "org/a", {"u": scored(A)}, time=LATER, results=False)
    assert "x" in podium.read_battles(f"x={home}", f"y={out}/org__b").models


@pytest.mark.slow
def test_lm_eval_reports_a_run_without_samples_and_ranks_the_rest(out: Path) -> None:
    write_run(out, "org/c", {"t": scored(A)}, samples=False)
    battles = podium.read_battles(out)
    assert (battles.models, len(battles.lost)) == (("org/a", "org/b"), 1)
    assert notice_texts(battles.lost)[0].startswith("org/c has no samples beside ")
    assert notice_texts(battles.lost)[0].endswith("run lm_eval with --log_samples")
    assert notice_texts(battles.lost)[0] in notice_texts(battles.notes)


@pytest.mark.slow
def test_runs_without_samples_are_one_warning(out: Path) -> None:
    for name in "cdefghi":
        write_run(out, f"org/{name}", {"t": scored(A)}, samples=False)
    [text] = notice_texts(podium.read_battles(out).lost)
    assert text == (
        "org/c, org/d, org/e, org/f, org/g, and 2 more have no samples beside "
        f"{out}/org__c/results_{TIME}.json, and 6 more: run lm_eval with --log_samples"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("summary.json", '{"a": [1, 2], "b": [1]}'),
        ("config.json", "[1, 2, 3]"),
        ("seed.json", "7"),
        ("columns.csv", "a\n"),
    ],
)
def test_a_document_in_the_folder_that_is_no_table_is_left_out(
    out: Path, name: str, content: str
) -> None:
    (out / name).write_text(content)
    battles = podium.read_battles(out)
    assert battles.models == ("org/a", "org/b")
    words = f"1 file holds no verdicts and was skipped: {out / name}"
    assert words in notice_texts(battles.notes)
    with pytest.raises(podium.DataError):
        podium.read_battles(out / name)


@pytest.mark.slow
def test_lm_eval_reports_a_newer_run_without_samples_and_reads_the_older_samples(out: Path) -> None:
    home = write_run(out, "org/a", {"t": scored([0.0] * 4)}, time=LATER, samples=False)
    words = (
        f"org/a has no samples beside {home}/results_{LATER}.json: run lm_eval with --log_samples"
    )
    assert scores_by_mean(out)["org/a"] == 0.75
    assert notice_texts(podium.read_battles(out).lost) == (words,)


def test_folders_without_any_samples_are_an_error_with_the_remedy(tmp_path: Path) -> None:
    write_run(tmp_path, "a", {"t": scored(A)}, samples=False)
    with pytest.raises(
        podium.DataError, match=r"a has no samples beside .*run lm_eval with --log_samples"
    ):
        podium.read_battles(tmp_path)


@pytest.mark.slow
def test_lm_eval_reports_other_documents_under_one_task_name_and_ranks_the_rest(out: Path) -> None:
    write_run(out, "org/c", {"t": [sample(f"other {k}", {"acc": 1.0}) for k in range(4)]})
    battles = podium.read_battles(out)
    assert (credits(battles), len(battles.lost)) == (
        credits(podium.read_battles(out / "org__a", out / "org__b")),
        1,
    )
    assert "org__c/samples_t" in notice_texts(battles.lost)[0]
    assert (
        "no document or target of org/c is in another's samples of t"
        in notice_texts(battles.lost)[0]
    )


@pytest.mark.slow
def test_lm_eval_reports_a_task_with_only_one_model(out: Path) -> None:
    write_run(out, "org/a", {"u": scored(A)}, time=LATER)
    battles = podium.read_battles(out)
    assert (battles.values_of("task"), notice_texts(battles.lost)) == (
        ("t",),
        ("u: only org/a has samples of it; comparing takes two models",),
    )


@pytest.mark.slow
def test_tasks_of_one_model_only_are_one_warning(out: Path) -> None:
    write_run(out, "org/a", {name: scored(A) for name in "uvwxy"}, time=LATER)
    assert notice_texts(podium.read_battles(out).lost) == (
        "only org/a has samples of 5 tasks (u, v, w, and 2 more); comparing takes two models",
    )


@pytest.mark.slow
def test_tasks_that_were_run_again_are_one_warning_after_the_reason(tmp_path: Path) -> None:
    for time in (TIME, LATER):
        write_run(tmp_path, "org/a", {name: scored(A) for name in "tuvw"}, time=time)
    with pytest.raises(podium.DataError) as refusal:
        podium.read_battles(tmp_path)
    old, new = (f"{tmp_path}/org__a/samples_t_{time}.jsonl" for time in (TIME, LATER))
    assert str(refusal.value) == (
        "nothing to compare: only org/a has samples of 4 tasks (t, u, v, and 1 more); comparing "
        "takes two models; org/a was run several times on each of 4 tasks (t, u, v, and 1 more): "
        f"the newest counts (on t {new}, not {old}). Remedy: compare two runs of org/a with "
        f"`podium compare {old} {new}`, or give the samples of two models or more on the same "
        "documents of a task"
    )


@pytest.mark.slow
def test_a_last_line_that_is_cut_off_is_missing_and_the_rest_is_ranked(out: Path) -> None:
    path = out / "org__b" / f"samples_t_{TIME}.jsonl"
    path.write_text(path.read_text()[:-200])
    battles = podium.read_battles(out)
    assert (len(battles), battles.missing) == (3, 1)
    assert notice_texts(battles.lost) == (
        f"{path}, line 4: cut off, so its document is missing; run t again",
    )


@pytest.mark.slow
def test_samples_that_end_early_between_lines_are_noticed_by_the_results(out: Path) -> None:
    path = out / "org__b" / f"samples_t_{TIME}.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:3]))
    assert notice_texts(podium.read_battles(out).lost) == (
        f"{path} contains 3 of 4 documents; run t again",
    )


@pytest.mark.slow
def test_files_that_lack_as_many_documents_have_one_notice(tmp_path: Path) -> None:
    paths = cut_samples(tmp_path, dict.fromkeys("tuvw", 3))
    assert notice_texts(podium.read_battles(tmp_path).lost) == (
        f"8 files contain 3 of 4 documents each ({paths[0]}, {paths[1]}, {paths[2]}, and 5 more); "
        "run t, u, v, and 1 more again",
    )


@pytest.mark.slow
def test_files_that_lack_other_numbers_of_documents_have_one_notice_with_each_number(
    tmp_path: Path,
) -> None:
    paths = cut_samples(tmp_path, {"t": 3, "u": 2})
    assert notice_texts(podium.read_battles(tmp_path).lost) == (
        f"4 files contain fewer documents than their results count: {paths[0]} (3 of 4), "
        f"{paths[1]} (2 of 4), {paths[2]} (3 of 4), and 1 more; run t, u again",
    )


def cut_samples(folder: Path, kept: dict[str, int]) -> list[Path]:
    """Write runs of two models on tasks, keep only the first rows of each, and return the files."""
    paths = []
    for model in ("org/a", "org/b"):
        write_run(folder, model, {task: scored(A) for task in kept})
    for model in ("org__a", "org__b"):
        for task, rows in kept.items():
            path = folder / model / f"samples_{task}_{TIME}.jsonl"
            path.write_text("".join(path.read_text().splitlines(keepends=True)[:rows]))
            paths.append(path)
    return paths


def test_a_damaged_line_in_the_middle_is_an_error_that_names_it(out: Path) -> None:
    path = out / "org__b" / f"samples_t_{TIME}.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], lines[1][:50], *lines[2:]]))
    with pytest.raises(podium.DataError, match=rf"{path}, line 2: not a whole JSON record"):
        podium.read_battles(out)


@pytest.mark.slow
@pytest.mark.parametrize("kept", [0, 20])
def test_samples_without_a_whole_row_are_missing_and_the_rest_is_ranked(
    out: Path, kept: int
) -> None:
    shutil.copytree(out / "org__b", out / "org__c")
    for one in (out / "org__c").glob("results_*"):
        one.write_text(one.read_text().replace("org/b", "org/c"))
    path = out / "org__b" / f"samples_t_{TIME}.jsonl"
    path.write_text(path.read_text()[:kept])
    battles = podium.read_battles(out)
    assert notice_texts(battles.lost) == (
        f"{path}: no whole row of samples, so org/b is missing; run t again",
    )
    assert battles.models == ("org/a", "org/c")
    shutil.rmtree(out / "org__c")
    with pytest.raises(
        podium.DataError, match=rf"nothing to compare: {path}: no whole row of samples"
    ):
        podium.read_battles(out)


def test_lm_eval_without_results_uses_the_folder_name_and_reports_the_assumed_direction(
    tmp_path: Path,
) -> None:
    for name, values in (("org/a", A), ("org/b", B)):
        write_run(tmp_path, name, {"t": scored(values)}, results=False)
    battles = podium.read_battles(tmp_path)
    assert battles.models == ("org__a", "org__b")
    assert (
        "no results file says which acc,none of t is better: higher is taken to be"
        in notice_texts(battles.notes)
    )


def test_lm_eval_omits_and_reports_a_model_without_the_filter(out: Path) -> None:
    write_run(out, "org/c", {"t": scored(A, filter_="strict")})
    battles = podium.read_battles(out, metric="acc,none")
    assert battles.models == ("org/a", "org/b")
    assert (
        "has no acc,none (it has acc,strict), so org/c is not compared on t"
        in notice_texts(battles.lost)[0]
    )


@pytest.mark.slow
def test_tasks_are_columns_and_every_document_counts_the_same(out: Path) -> None:
    for name, values in (("org/a", [0.0, 0.0]), ("org/b", [1.0, 1.0])):
        write_run(out, name, {"u": scored(values)}, time=LATER)
    battles = podium.read_battles(out)
    assert (battles.values_of("task"), battles.values_of("category"), len(battles)) == (
        ("t", "u"),
        ("t", "u"),
        6,
    )
    [alone, other] = rank(battles, "mean").standings
    assert (alone.slice, other.slice) == ("t", "u")
    [pooled] = rank(battles, "mean", pool=True).standings
    # 3 + 0 and 1 + 2 of six documents are right; the mean of both tasks would differ.
    assert {entry.model: entry.score for entry in pooled.entries} == {"org/a": 0.5, "org/b": 0.5}
    assert credits(podium.read_battles(out, where={"task": "u"})) == [0.0, 0.0]


@pytest.mark.slow
def test_the_same_document_in_two_tasks_is_two_items_by_itself(tmp_path: Path) -> None:
    for name, values in (("a", A), ("b", B)):
        write_run(tmp_path, name, {"t": scored(values), "u": scored(values)})
    assert podium.read_battles(tmp_path).counts().items == 8


def test_a_task_that_is_not_there_is_rejected_with_those_that_are(out: Path) -> None:
    with pytest.raises(podium.UsageError, match="no samples of the task 'x'; tasks: t"):
        podium.read_battles(out, where={"task": "x"})


def test_only_the_metrics_of_the_tasks_that_are_asked_for_must_be_chosen(two_metrics: Path) -> None:
    for name, values in (("a", A), ("b", B)):
        write_run(two_metrics, name, {"u": scored(values)}, time=LATER)
    assert podium.read_battles(two_metrics, where={"task": "u"}).metrics == ("acc,none",)


@pytest.mark.slow
def test_tasks_with_different_metrics_are_ranked_task_by_task(tmp_path: Path) -> None:
    for name, values in (("a", A), ("b", B)):
        write_run(tmp_path, name, {"t": scored(values), "u": scored(values, "em")})
    battles = podium.read_battles(tmp_path)
    with pytest.raises(podium.NotIdentifiedError, match="scores of 2 metrics in one table"):
        rank(battles, "mean", pool=True)
    assert [one.slice for one in rank(battles, "mean").standings] == ["t", "u"]


def test_lm_eval_reports_a_metric_that_is_not_the_mean_of_its_documents(tmp_path: Path) -> None:
    for name, values in (("a", A), ("b", B)):
        write_run(tmp_path, name, {"t": scored(values)}, figures={"t": {"acc,none": 0.9}})
    notes = notice_texts(podium.read_battles(tmp_path).notes)
    assert any(
        "is not the figure that lm-eval reports" in note and "(0.75 and 0.9)" in note
        for note in notes
    )


@pytest.mark.slow
def test_a_mean_of_the_shared_documents_is_named_beside_the_figure_of_lm_eval(
    tmp_path: Path,
) -> None:
    write_run(tmp_path, "a", {"t": scored(A)}, figures={"t": {"acc,none": 0.75}})
    write_run(tmp_path, "b", {"t": scored(B)[2:]}, figures={"t": {"acc,none": 0.0}})
    [said] = [
        note
        for note in notice_texts(podium.read_battles(tmp_path).notes)
        if "other models have, too" in note
    ]
    assert said.startswith("acc,none of t is a mean over the documents that other models have")
    assert said.endswith("(0.5 and 0.75)")


@pytest.mark.slow
def test_margins_and_scores_of_a_continuous_metric_are_kept(tmp_path: Path) -> None:
    for name, values in (("a", [0.5, 0.25]), ("b", [0.125, 0.75])):
        write_run(tmp_path, name, {"t": scored(values, "f1")})
    table = podium.read_battles(tmp_path).table
    assert sorted(
        zip(table["score_a"], table["score_b"], table["margin"], table["credit"], strict=True)
    ) == [
        (0.25, 0.75, -0.5, 0.0),
        (0.5, 0.125, 0.375, 1.0),
    ]


def test_samples_under_another_name_are_rejected_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "wren.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in scored(A)))
    with pytest.raises(podium.DataError, match=r"call the file, unpacked, samples_TASK\.jsonl"):
        podium.read_battles(path)


def test_compressed_samples_are_rejected_with_the_remedy(out: Path) -> None:
    for path in out.rglob("samples_*.jsonl"):
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    with pytest.raises(
        podium.DataError,
        match=r"org/a, org/b have no samples beside \S+, and 1 more: unpack their \.gz files",
    ):
        podium.read_battles(out)


def test_a_battles_table_that_is_called_samples_is_no_file_of_lm_evals(tmp_path: Path) -> None:
    path = tmp_path / "samples_1.jsonl"
    path.write_text(json.dumps({"item": "i", "model_a": "a", "model_b": "b", "credit": 1}) + "\n")
    assert len(podium.read_battles(path)) == 1


def test_other_files_in_the_folder_are_read_as_ever(out: Path) -> None:
    (out / "battles.csv").write_text("item,model_a,model_b,credit\ni,a,b,1\n")
    with pytest.raises(
        podium.UsageError,
        match=r"mixed formats: .*samples_t.* is lm-eval, .*battles\.csv is podium",
    ):
        podium.read_battles(out)


@pytest.mark.parametrize("option", [{"metric": "acc"}, {"runs": "all"}])
def test_options_for_lm_eval_are_rejected_where_there_are_no_samples(
    tmp_path: Path, option: dict[str, str]
) -> None:
    path = tmp_path / "battles.csv"
    path.write_text("item,model_a,model_b,credit\ni,a,b,1\n")
    with pytest.raises(podium.UsageError, match="no lm-eval samples in"):
        podium.read_battles(path, **option)


def test_the_reading_is_on_record(out: Path) -> None:
    assert podium.read_battles(out, metric="acc").reading == {"metric": ["acc"]}


YAML = """task: {task}
dataset_path: json
dataset_kwargs: {{data_files: {{test: {data}}}, cache_dir: {cache}}}
test_split: test
output_type: {kind}
doc_to_text: "{{{{q}}}}"
doc_to_target: "{{{{a}}}}"
{more}
"""
CHOICES = (
    'doc_to_choice: "{{choices}}"\nmetric_list: [{metric: acc}, {metric: acc_norm}, {metric: '
    "brier_score}]"
)
TEXTS = """repeats: 2
generation_kwargs: {until: ["\\n"]}
filter_list:
  - {name: first, filter: [{function: take_first}]}
  - {name: low, filter: [{function: lowercase}, {function: take_first}]}
metric_list: [{metric: exact_match, aggregation: mean, higher_is_better: true}, {metric: bleu}]"""
WHOLE = "metric_list: [{metric: word_perplexity}]"
LAST = "metric_list: [{metric: perplexity}, {metric: acc}]"


@pytest.fixture(scope="module")
def from_the_host(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders that lm-eval itself wrote: two dummy models on four kinds of tasks."""
    pytest.importorskip("lm_eval.api")
    from lm_eval import simple_evaluate
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    home = tmp_path_factory.mktemp("host")
    docs = [
        {"q": f"{k}?", "a": "lol" if k % 3 else "hi", "choices": ["lol", "hi", "ho"]}
        for k in range(1, 31)
    ]
    (home / "docs.jsonl").write_text("".join(json.dumps(doc) + "\n" for doc in docs))
    kinds = {
        "multiple_choice": CHOICES,
        "generate_until": TEXTS,
        "loglikelihood_rolling": WHOLE,
        "loglikelihood": LAST,
    }
    for kind, more in kinds.items():
        text = YAML.format(
            task=f"its_{kind}", data=home / "docs.jsonl", cache=home / "cache", kind=kind, more=more
        )
        (home / f"{kind}.yaml").write_text(text)
    manager = TaskManager(include_path=str(home), include_defaults=False)
    for seed, name in ((1, "org/a"), (2, "org/b")):
        tracker = EvaluationTracker(output_path=str(home / "out"))
        results = simple_evaluate(
            "dummy",
            model_args={"pretrained": name},
            tasks=[f"its_{kind}" for kind in kinds],
            task_manager=manager,
            random_seed=seed,
            evaluation_tracker=tracker,
            bootstrap_iters=0,
        )
        samples = results.pop("samples")
        tracker.save_results_aggregated(results=results, samples=samples)
        for task, rows in samples.items():
            tracker.save_results_samples(task_name=task, samples=rows)
    return home / "out"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "metric"),
    [
        ("its_multiple_choice", "acc,none"),
        ("its_multiple_choice", "acc_norm,none"),
        ("its_generate_until", "exact_match,first"),
        ("its_loglikelihood", "acc,none"),
    ],
)
def test_means_are_the_figures_that_the_installed_lm_eval_reports(
    from_the_host: Path, task: str, metric: str
) -> None:
    contents = [json.loads(path.read_text()) for path in from_the_host.rglob("results_*.json")]
    reported = {content["model_name"]: content["results"][task][metric] for content in contents}
    assert scores_by_mean(from_the_host, metric=metric, where={"task": task}) == reported


@pytest.mark.slow
def test_the_lower_perplexity_of_the_installed_lm_eval_is_ranked_first(from_the_host: Path) -> None:
    contents = [json.loads(path.read_text()) for path in from_the_host.rglob("results_*.json")]
    reported = {
        content["model_name"]: content["results"]["its_loglikelihood"]["perplexity,none"]
        for content in contents
    }
    means = scores_by_mean(from_the_host, metric="perplexity")
    assert {
        name: np.exp(-score) for name, score in means.items() if score is not None
    } == pytest.approx(reported)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["brier_score", "bleu", "word_perplexity"])
def test_figures_of_all_documents_together_are_rejected_as_the_installed_lm_eval_writes_them(
    from_the_host: Path, metric: str
) -> None:
    with pytest.raises(
        podium.NotIdentifiedError, match=rf"{metric},\w+ of its_\w+: per document it is a list"
    ):
        podium.read_battles(from_the_host, metric=metric)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "value"), [("results", 5), ("results", [1]), ("higher_is_better", {"acc": [1]})]
)
def test_damaged_entries_of_a_task_in_results_are_taken_for_unknown(
    out: Path, key: str, value: Any
) -> None:
    for path in out.rglob("results_*.json"):
        content = json.loads(path.read_text())
        content[key]["t"] = value
        path.write_text(json.dumps(content))
    assert credits(podium.read_battles(out)).count(0.5) == 2


@pytest.mark.parametrize(
    ("end", "message"),
    [
        (", 7]", r"samples_t_.*\.jsonl, row 5: '7' is not a JSON object"),
        (', {"doc', r"samples_t_.*\.jsonl: damaged JSON"),
    ],
)
def test_a_damaged_list_of_samples_names_the_file(out: Path, end: str, message: str) -> None:
    [path] = (out / "org__a").glob("samples_*")
    path.write_text("[" + ",\n".join(map(json.dumps, scored(A))) + end)
    with pytest.raises(podium.DataError, match=message):
        podium.read_battles(out)
