"""Judges that take turns in Inspect: killed and retried, in shards, packs and on demand; one that
fails throughout."""

import json
from collections import Counter

import pytest
from inspect_ai import eval, eval_retry
from inspect_ai.log import read_eval_log
from played_logs import ITEMS, battles, place
from test_answers_on_demand import ask, prompts  # noqa: F401
from test_faults import host, repeated_prompts  # noqa: F401

import podium
from podium.hosts.inspect_ai import tasks

THREE = ("kind", "harsh", "fair")
ROLES = [
    f"--model-role={role}=openai-api/standin/{name}"
    for role, name in (("judge2", "kind"), ("judge3", "harsh"))
]


@pytest.fixture
def turns(behave, write_responses):
    """Return a way to play a tournament with three judges that take turns; it gives the log as it
    stands on disk."""

    def run(task="round_robin", failing=(), items=ITEMS, form="letter", **arguments):
        roles = {
            "judge": [behave(name, errors=float(name in failing), form=form) for name in THREE]
        }
        given = {"judges": "rotate", "responses": write_responses(items=items), **arguments}
        [log] = eval(getattr(tasks, task), task_args=given, model_roles=roles)
        return read_eval_log(log.location)

    return run


def judges_of(log):
    """Return the names of the judges of each battle, by what it is about."""
    chosen: dict[tuple, set[str]] = {}
    battles = podium.read_battles(str(place(log)), merge=False)
    for row in battles.table.to_dict("records"):
        key = row["item"], row["model_a"], row["model_b"]
        chosen.setdefault(key, set()).add(
            battles.judge_of(row["judge"]).model_name.rpartition("/")[2]
        )
    return chosen


def assert_balanced(chosen, group, most=2.5):
    """Each judge has a third of the battles of each group, but for `most`."""
    counts: dict[object, Counter] = {}
    for own, [judge] in chosen.items():
        counts.setdefault(group(own), Counter())[judge] += 1
    assert all(
        abs(count[name] - count.total() / 3) <= most for count in counts.values() for name in THREE
    )


@pytest.mark.slow
def test_killed_and_retried_three_judges_keep_their_balance_and_no_judge_is_asked_twice(host):  # noqa: F811
    """Without a cache, only the log says what was played; the retry asks for what was in flight at
    the kill."""
    more = ("-T", "judges=rotate", "-T", "cache=false", *ROLES)
    before = host.killed_after(50, "podium/round_robin", *more)
    log = host.run("eval-retry", str(host.logs()[0]))
    calls = host.judge.calls()
    assert (log.status, len(battles(log))) == ("success", 60)
    chosen = judges_of(log)
    assert all(len(judges) == 1 for judges in chosen.values()), (
        "both orders of a battle are one judge's"
    )
    assert_balanced(chosen, lambda own: own[1:])
    assert_balanced(chosen, lambda own: own[0])
    assert max(Counter(judge for [judge] in chosen.values()).values()) <= 21
    assert {
        (call.item, *sorted((call.first, call.second))): {call.model} for call in calls
    } == chosen
    repeated = repeated_prompts(calls)
    assert set(repeated) <= {
        call.key for call in before if call.ended is None or call in before[-8:]
    }
    again = host.run("eval", "podium/round_robin", *more)
    assert judges_of(again) == chosen, "the seed decides"


@pytest.mark.slow
def test_shards_and_packs_have_the_judges_of_the_single_run(turns):
    whole = judges_of(turns())
    assert judges_of(turns(pack=True)) == whole
    parts = [judges_of(turns(shard=f"{k}/3")) for k in (1, 2, 3)]
    assert {own: judges for part in parts for own, judges in part.items()} == whole
    assert judges_of(turns(seed=1)) != whole


@pytest.mark.slow
def test_answers_on_demand_are_judged_in_turn_by_the_same_judges_as_answers_from_files(
    ask,  # noqa: F811
    prompts,  # noqa: F811
    behave,
):
    jury = [behave(name) for name in THREE]
    log = ask("ring", prompts=prompts, judges="rotate", judge=jury)
    chosen = judges_of(log)
    assert_balanced(chosen, lambda own: own[0], most=1.5)
    roles, given = {"judge": jury}, {"responses": log.location, "judges": "rotate"}
    [recorded] = eval(tasks.ring, task_args=given, model_roles=roles)
    assert judges_of(recorded) == chosen


@pytest.mark.slow
@pytest.mark.parametrize("pack", [False, True])
def test_a_judge_that_fails_throughout_is_named_its_battles_are_missing_and_the_rest_ranks(
    turns, record, behave, run_podium, pack, capfd
):
    log = turns(failing=["harsh"], pack=pack)
    assert (
        "scripted/harsh is not asked any more: its first 10 calls all failed"
        in capfd.readouterr().err
    )
    assert log.status == "error"
    asked = Counter(name for name, _ in record.prompts)
    code, out, err = run_podium("rank", str(place(log)), "--format", "json")
    counts = json.loads(out)["rankings"][0]["counts"]
    lost = counts["missing"]
    assert (code, asked["harsh"], counts["unparsed"]) == (0, 10, 0)
    assert f"judged none of its {lost} battles, which are missing" in err
    assert counts["battles"] + lost == len(judges_of(log)) + lost == 6 * ITEMS
    behave("harsh")
    [again] = eval_retry(log)
    assert again.status == "success"
    done = Counter(name for name, _ in record.prompts)
    assert (done["kind"], done["fair"]) == (asked["kind"], asked["fair"]), (
        "no call of the others twice"
    )
    assert done["harsh"] == 10 + 2 * lost


@pytest.mark.slow
def test_if_all_judges_fail_the_run_ends(turns, record):
    log = turns(failing=THREE)
    assert log.status == "error"
    assert "inspect eval-retry" in log.error.message
    assert record.calls == 30


@pytest.mark.slow
def test_a_log_of_one_jury_is_pooled_unasked_even_as_a_table_and_says_what_is_not_known(
    turns, run_podium, tmp_path
):
    log = str(place(turns()))
    code, out, err = run_podium("rank", log, "--format", "json")
    [ranking] = json.loads(out)["rankings"]
    assert (code, ranking["slice"], ranking["counts"]["battles"], ranking["counts"]["items"]) == (
        0,
        None,
        6 * ITEMS,
        ITEMS,
    )
    assert "their agreement and the errors that they share cannot be known" in err
    run_podium("convert", log, "-o", "table.csv")
    code, out, _ = run_podium("rank", "table.csv", "--format", "json")
    assert (code, json.loads(out)["rankings"][0]["models"]) == (0, ranking["models"])
    code, out, _ = run_podium("rank", log, "--by", "judge", "--format", "json")
    assert (code, len(json.loads(out)["rankings"])) == (0, 3)


@pytest.mark.slow
def test_in_the_run_itself_the_jury_has_one_ranking(turns):
    log = turns("ring", items=80, until="order", start=25, passes=1, overlap=0.1)
    [ranking] = log.results.metadata["podium"]["rankings"]
    answer = ranking["diagnostics"]["answer"]
    assert (ranking["slice"], ranking["counts"]["items"], answer["looks"] > 0) == (None, 80, True)


@pytest.mark.slow
def test_interim_analyses_count_a_battle_of_several_judges_once_and_the_ranking_once_per_judge(
    turns,
):
    log = turns("ring", items=80, until="order", start=25, passes=1, overlap=0.5)
    [ranking] = log.results.metadata["podium"]["rankings"]
    chosen = judges_of(log)
    counted = ranking["diagnostics"]["answer"]["battles"], ranking["counts"]["battles"]
    assert counted == (len(chosen), sum(map(len, chosen.values())))


@pytest.mark.slow
def test_overlap_has_all_judges_on_its_share_and_the_note_is_gone(turns, run_podium, capfd):
    log = turns(overlap=0.25)
    said, shared = (
        capfd.readouterr().err,
        "a battle that several judges judge counts once per judge in the ranking",
    )
    assert (f"note: {shared}" in said, "cannot be known" in said) == (True, False)
    chosen = judges_of(log)
    assert Counter(map(len, chosen.values())) == {1: 27, 3: 9}
    _, out, err = run_podium("rank", str(place(log)), "--format", "json")
    counts = json.loads(out)["rankings"][0]["counts"]
    assert (counts["battles"], counts["items"], "cannot be known" in err) == (
        27 + 3 * 9,
        ITEMS,
        False,
    )
    assert f"{shared}: 36 battles, 9 of them by several judges" in " ".join(err.split())


@pytest.mark.slow
def test_a_pointwise_judge_rates_every_response_to_its_items_once(turns, record):
    log = turns(realization="numeric", form="numeric")
    of_item: dict[str, set[str]] = {}
    for (item, *_), judges in judges_of(log).items():
        of_item.setdefault(item, set()).update(judges)
    assert all(len(judges) == 1 for judges in of_item.values())
    assert record.calls == 4 * len(of_item)


@pytest.mark.slow
def test_the_preview_says_calls_and_cost_per_judge(turns, capfd):
    prices = {f"scripted/{name}": [10.0 * (name == "harsh"), 0] for name in THREE}
    turns(judges="rotate:2,1,1", prices=prices, limit=4)
    said = capfd.readouterr().err
    assert "at most 24 battles, 48 calls of all judges together" in said
    assert "scripted/kind: about 24 calls" in said
    assert "scripted/harsh: about 12 calls" in said
    assert (
        "at most about 0.00 in money"
        in said.partition("scripted/kind")[2].partition("scripted/harsh")[0]
    )
    assert "note: no battle is judged by two judges" in said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            {"judges": "rotate:1,2"},
            "judges=rotate:1,2: there are 3 judges; give a weight above 0 for each",
        ),
        ({"overlap": 2}, "overlap=2: give a share of the battles from 0 to 1"),
        ({"quorum": 2}, "quorum=2: with judges=rotate most battles have one judge; leave it out"),
    ],
)
def test_options_that_do_not_fit_are_rejected_before_any_call(
    turns, record, capfd, arguments, words
):
    with pytest.raises((SystemExit, podium.UsageError)) as error:
        turns(**arguments)
    assert words in f"{error.value} {''.join(capfd.readouterr())}"
    assert record.calls == 0


def test_judges_that_are_not_known_when_the_task_is_made_are_asked_for(write_responses):
    with pytest.raises((SystemExit, podium.UsageError), match="no judge is known yet"):
        tasks.round_robin(responses=write_responses(), judges="rotate")
