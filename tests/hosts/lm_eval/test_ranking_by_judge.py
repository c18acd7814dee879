"""`podium lm_eval run ... --ranker_judge`: an Inspect tournament over the responses, by the
server's own count."""

import asyncio
import json
import os
import subprocess
import sys
import time
from glob import glob
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from signal import SIGKILL, SIGTERM
from threading import Thread

import pytest

pytest.importorskip("lm_eval.api")
pytest.importorskip("inspect_ai")
pytest.importorskip("openai")

from inspect_ai.log import read_eval_log
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.model._model import init_active_model
from running import calls, results, run

import podium
from podium.cli.main import main
from podium.data.reading.judgments import read_battles
from podium.ranking.rank_battles import rank

KEY = "sk-podium-test-0123456789abcdef"
PLAIN_KEY = "a key of no known shape 17"
PLAIN_WORD = "open-sesame-17"
MODELS = ("ash-0.9", "org/elm-0.6")
FOLDER = Path("out", "org__elm-0.6")


@pytest.fixture
def judge(server):
    """Return the options that have responses judged by a model behind an OpenAI-compatible
    address."""
    where = f"base_url={server.address}/v1,api_key={KEY}"
    rankers = ("--ranker", "bradley-terry,win-rate")
    return (
        "-o",
        "out",
        *rankers,
        "--ranker_judge",
        "openai-api/standin/judge",
        "--ranker_judge_args",
        where,
    )


@pytest.fixture
def two(monkeypatch, task_of_sums, server):
    """Run two models; return a way to run the second again, on the first twelve items, with more
    options.

    What the second answers is kept by lm-eval, so that only judges are asked then.
    """
    kept = ("--limit", "12", "--use_cache", "answers")
    assert (
        run(
            monkeypatch,
            task_of_sums,
            server,
            MODELS[0],
            "-o",
            "out",
            "--log_samples",
            "--limit",
            "12",
        )
        == 0
    )
    assert (
        run(monkeypatch, task_of_sums, server, MODELS[1], "-o", "out", "--log_samples", *kept) == 0
    )
    return lambda *more: run(monkeypatch, task_of_sums, server, MODELS[1], *kept, *more)


def newest_log():
    """Return the log of the last tournament."""
    return sorted(Path("out.podium").glob("*.eval"))[-1]


def leaks(*texts, key=KEY):
    """Return the files and texts in which the key stands, cached replies included."""
    found = [
        path for path in Path().rglob("*") if path.is_file() and key.encode() in path.read_bytes()
    ]
    logs = [
        path for path in Path().rglob("*.eval") if key in read_eval_log(str(path)).model_dump_json()
    ]
    return found + logs + [text for text in texts if key in text]


@pytest.mark.slow
def test_the_folder_of_the_tournament_is_a_preference_set(two, judge, tmp_path, monkeypatch):
    assert two(*judge) == 0
    battles = read_battles("out.podium").table
    path = tmp_path / "preferences.jsonl"
    words = ["podium", "export", "out.podium", "--to", "preference", "--flips", "--ties"]
    monkeypatch.setattr("sys.argv", [*words, "-o", str(path)])
    with pytest.raises(SystemExit) as done:
        main()
    assert done.value.code == 0
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert 0 < len(rows) <= len(battles) == 12
    assert {row["task"] for row in rows} == {"sums"}
    by_item = battles.set_index("item")
    for row in rows:
        first, credit = by_item.loc[row["item"], ["model_a", "credit"]]
        earned = credit if row["chosen_model"] == first else 1 - credit
        assert row["credit"] == pytest.approx(earned)
        assert row["chosen"] != row["rejected"]
        assert row["prompt"][-1]["role"] == "user"


@pytest.mark.slow
def test_a_model_judges_and_nothing_is_asked_twice(two, judge, server, tmp_path, capfd):
    assert two(*judge) == 0
    out, err = capfd.readouterr()
    assert "inspect" not in out
    # Twelve battles, both orders.
    assert calls(server, ["judge"]) == 24
    assert {one.bearer for one in server.calls() if one.model == "judge"} == {KEY}
    assert leaks(out, err) == []
    [bradley_terry, win_rate] = rank(
        read_battles(newest_log()), ["bradley-terry", "win-rate"]
    ).standings
    kept = results(FOLDER)
    for one in (bradley_terry, win_rate):
        [own] = [entry for entry in one.entries if entry.model == MODELS[1]]
        assert kept["results"]["sums"][f"{one.ranker},podium"] == own.score
    # The judge prefers the better mark, as the server's closed form says.
    shown = [one for one in server.calls() if one.model == "judge"]
    won = [one.probability if one.first == MODELS[1] else 1 - one.probability for one in shown]
    assert win_rate.entries[
        [e.model for e in win_rate.entries].index(MODELS[1])
    ].score == pytest.approx(sum(won) / len(won), abs=1e-3)
    assert (
        read_eval_log(str(newest_log()), header_only=True).results.metadata["podium"]
        == kept["podium"]
    )
    assert rank(read_battles("out.podium"), "win-rate").standings[0].entries == win_rate.entries
    before = len(server.calls())
    assert two(*judge) == 0
    assert calls(server, ["judge"]) == 24
    assert len(server.calls()) == before
    assert results(FOLDER)["podium"]["rankings"] == kept["podium"]["rankings"]


@pytest.mark.slow
def test_another_system_instruction_is_warned_of_and_changes_no_exit_code(two, judge, capfd):
    assert two("--system_instruction", "Be brief.", *judge) == 0
    said = " ".join("".join(capfd.readouterr()).split())
    own = "org/elm-0.6 (system instruction=Be brief.)"
    values = f"system instruction of sums: Be brief. ({own}), default (ash-0.9, org/elm-0.6)"
    assert f"warning: models were run with different settings: {values}" in said
    checks = results(FOLDER)["podium"]["rankings"][0]["checks"]
    found = {check["code"]: check["result"] for check in checks}
    assert (found["same-question"], found["same-settings"]) == ("ok", "flagged")


@pytest.mark.slow
def test_api_key_is_passed_only_to_the_inspect_judge(two, server, tmp_path, capfd):
    reported = ("-o", "out", "--ranker", "win-rate", "--ranker_judge", "openai-api/standin/judge")
    where = f"base_url={server.address}/v1,api_key={KEY}"
    how = (
        "--ranker_tournament",
        "anchor",
        "--ranker_args",
        "anchor=ash-0.9,items=5",
        "temperature=0",
    )
    assert two(*reported, "--ranker_judge_args", where, *how) == 0
    assert calls(server, ["judge"]) == 10
    assert {one.bearer for one in server.calls() if one.model == "judge"} == {KEY}
    assert leaks(*capfd.readouterr()) == []
    assert results(FOLDER)["podium"]["rankings"][0]["counts"]["battles"] == 5


@pytest.mark.slow
def test_a_run_is_placed_on_given_ratings(two, judge, server, tmp_path, capfd):
    how = ("--ranker_tournament", "ring", "--ranker_args", "ratings=ash-0.9:1200+-10,items=12")
    assert two(*judge, *how) == 0
    [ranking] = [
        one for one in results(FOLDER)["podium"]["rankings"] if one["ranker"] == "bradley-terry"
    ]
    scores = {own["model"]: own["score"] for own in ranking["models"]}
    assert ranking["diagnostics"]["ladder"]["rated"] == ["ash-0.9"]
    assert scores["ash-0.9"] == pytest.approx(1200, abs=1)
    assert scores["org/elm-0.6"] < 1200
    capfd.readouterr()


@pytest.mark.slow
def test_permanently_failed_battles_are_unparsed_and_retried_by_the_next_run(
    two, judge, server, tmp_path, capfd
):
    server.script(faults={"400": 0.3}, lasting=True)
    assert two(*judge, "--ranker_args", "orders=as-given", "--ranker_strict") == 3
    failed = {
        (one.item, one.first)
        for one in server.calls()
        if one.model == "judge" and one.fate == "400"
    }
    answered = {
        (one.item, one.first)
        for one in server.calls()
        if one.model == "judge" and one.fate == "answered"
    }
    assert failed
    assert not failed & answered
    counts = results(FOLDER)["podium"]["rankings"][0]["counts"]
    assert (counts["battles"], counts["unparsed"]) == (12, len(failed))
    assert (
        f"{len(failed)} battles failed, the first error: Error code: 400" in capfd.readouterr().err
    )
    config = read_eval_log(str(newest_log()), header_only=True).eval
    # `inspect eval-retry` reads the responses again.
    assert all(Path(source).exists() for source in config.task_args["responses"])
    asked = calls(server, ["judge"])
    server.script()
    assert two(*judge, "--ranker_args", "orders=as-given") == 0
    assert calls(server, ["judge"]) == asked + len(failed)


@pytest.mark.slow
def test_judge_that_does_not_answer_is_named_and_its_battles_are_retried_by_the_next_run(
    two, judge, server, monkeypatch, capfd
):
    monkeypatch.setattr("podium.hosts.inspect_ai.judged_run.MAX_RETRIES", 0)
    server.script(faults={"hang": 0.3}, lasting=True, draw=2)
    how = "orders=as-given,call_timeout=2"
    assert two(*judge, "--ranker_args", how, "--ranker_strict") == 3
    hung = [one for one in server.calls() if one.model == "judge" and one.fate != "answered"]
    assert 0 < len(hung) < 12
    counts = results(FOLDER)["podium"]["rankings"][0]["counts"]
    assert (counts["battles"], counts["unparsed"]) == (12, len(hung))
    assert (
        f"no answer within 2 seconds: openai-api/standin/judge at {server.address}/v1; see whether "
        "its server works, or set --ranker_args call_timeout=SECONDS"
    ) in capfd.readouterr().err
    asked = calls(server, ["judge"])
    server.script()
    assert two(*judge, "--ranker_args", how) == 0
    assert calls(server, ["judge"]) == asked + len(hung)


class Echo(BaseHTTPRequestHandler):
    """Refuses every request, and repeats the key that came with it."""

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        reported = json.dumps(
            {"error": {"message": f"no such key: {self.headers['Authorization']}"}}
        ).encode()
        self.send_response(int(self.server.server_name))
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reported)))
        self.end_headers()
        self.wfile.write(reported)

    def log_message(self, *arguments):
        """Say nothing."""


@pytest.mark.slow
def test_a_password_in_the_address_that_the_environment_names_is_written_nowhere(
    two, server, monkeypatch, capfd
):
    monkeypatch.setenv("STANDIN_API_KEY", KEY)
    monkeypatch.setenv(
        "STANDIN_BASE_URL", server.address.replace("://", f"://me:{PLAIN_WORD}@") + "/v1"
    )
    reported = ("-o", "out", "--ranker", "win-rate", "--ranker_judge", "openai-api/standin/judge")
    assert two(*reported, "--ranker_args", "items=3") == 0
    assert calls(server, ["judge"]) == 6
    assert leaks(*capfd.readouterr(), key=PLAIN_WORD) == []
    assert (
        read_eval_log(str(newest_log()))
        .eval.model_roles["judge"]
        .base_url.startswith("http://***@127.0.0.1")
    )


@pytest.mark.slow
@pytest.mark.parametrize("status", [400, 401])
def test_a_key_that_a_server_repeats_in_its_refusal_is_written_nowhere(two, status, capfd):
    with ThreadingHTTPServer(("127.0.0.1", 0), Echo) as echo:
        echo.server_name = str(status)
        Thread(target=echo.serve_forever, daemon=True).start()
        where = f"base_url=http://127.0.0.1:{echo.server_port}/v1,api_key={PLAIN_KEY}"
        reported = (
            "-o",
            "out",
            "--ranker",
            "win-rate",
            "--ranker_judge",
            "openai-api/standin/judge",
        )
        assert two(*reported, "--ranker_judge_args", where, "--ranker_strict") == 3
        echo.shutdown()
    out, err = capfd.readouterr()
    [note] = [line for line in err.splitlines() if "the judge is not asked any more:" in line]
    assert "no such key: Bearer ***" in note
    assert "You compare" not in note
    assert leaks(out, err, key=PLAIN_KEY) == []


@pytest.mark.slow
def test_unresponsive_judge_does_not_fail_the_run(two, judge, server, tmp_path, capfd):
    server.script(faults={"401": 1.0}, lasting=True)
    assert two(*judge, "--ranker_strict") == 3
    out, err = capfd.readouterr()
    assert "no battle was judged" in err
    assert "exact_match" in out
    assert "podium" not in results(FOLDER)
    assert leaks(out, err) == []


@pytest.mark.slow
def test_unreachable_judge_is_reported_once_by_cause_and_address(two, monkeypatch, capfd):
    monkeypatch.setattr("podium.hosts.inspect_ai.judged_run.MAX_RETRIES", 0)
    told = ("-o", "out", "--ranker", "win-rate", "--ranker_judge", "openai-api/standin/judge")
    assert (
        two(*told, "--ranker_judge_args", "base_url=http://127.0.0.1:9/v1,api_key=x,max_retries=0")
        == 0
    )
    notes = [line for line in capfd.readouterr().err.splitlines() if line.startswith("podium: ")]
    [note] = [line for line in notes if "connection refused: http://127.0.0.1:9/v1" in line]
    assert note.startswith("podium: not ranked: no battle was judged: ")
    assert sum(line.count(str(newest_log())) for line in notes) == 1


@pytest.mark.slow
def test_a_judge_is_asked_within_a_running_event_loop(
    two, judge, server, monkeypatch, task_of_sums
):
    reported = (*judge, "--ranker_args", "items=3")
    alone = (
        "--limit",
        "12",
        "--model_args",
        f"model={MODELS[1]},base_url={server.chat},num_concurrent=1",
    )

    async def within():
        # As after an eval in a notebook, where what is set stays set.
        init_active_model(get_model("mockllm/model"), GenerateConfig())
        return run(monkeypatch, task_of_sums, server, MODELS[1], *reported, *alone)

    assert asyncio.run(within()) == 0
    assert calls(server, ["judge"]) == 6
    assert results(FOLDER)["podium"]["rankings"][0]["counts"]["unparsed"] == 0


@pytest.mark.slow
def test_a_tournament_that_is_stopped_leaves_the_run_saved(
    two, judge, tmp_path, monkeypatch, capfd
):
    """Inspect keeps the interrupt to itself and returns the logs that are done: none."""
    monkeypatch.setattr("inspect_ai.eval", lambda *arguments, **options: [])
    assert two(*judge) == 130
    out, err = capfd.readouterr()
    assert "not ranked: stopped; lm-eval's own results are saved" in err
    assert "exact_match" in out
    assert "podium" not in results(FOLDER)


ALONE = """
import sys
from pathlib import Path
import pytest
from running import run
from stand_in import StandIn
server = StandIn(int(sys.argv[1]))
sys.exit(run(pytest.MonkeyPatch(), Path("tasks"), server, *sys.argv[2:]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("signal", [SIGTERM, SIGKILL])
def test_results_and_samples_are_saved_if_judging_is_killed(
    two, judge, server, signal, monkeypatch
):
    """And the next command takes up where this one was killed."""
    here = Path(__file__).parent
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, (here, here.parent))))
    before = {path.name for path in FOLDER.iterdir()}
    server.script(latency=1.0)
    port = server.address.rpartition(":")[2]
    words = [
        sys.executable,
        "-c",
        ALONE,
        port,
        MODELS[1],
        "--limit",
        "12",
        "--use_cache",
        "answers",
        *judge,
    ]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and calls(server, ["judge"]) < 4:
        time.sleep(0.05)
    process.send_signal(signal)
    assert process.wait() != 0
    [kept, samples] = sorted(path for path in FOLDER.iterdir() if path.name not in before)
    assert json.loads(kept.read_text())["results"]["sums"]["exact_match,number"] >= 0
    assert len(samples.read_text().splitlines()) == 12
    server.script()
    assert two(*judge) == 0
    assert results(FOLDER)["podium"]["rankings"]
    assert len(read_battles("out", metric="all")) == 12
    assert {path.name for path in FOLDER.iterdir()} > {kept.name, samples.name}


@pytest.mark.slow
def test_a_run_that_is_judged_is_saved_once(two, judge, tmp_path):
    before = len(list(FOLDER.iterdir()))
    assert two(*judge, "--ranker_args", "items=2") == 0
    assert len(list(FOLDER.iterdir())) == before + 2


@pytest.mark.slow
def test_truncated_answer_is_requested_again(two, server, tmp_path, capfd):
    server.script(faults={"cut": 0.2}, draw=3)
    where = f"base_url={server.address}/v1,api_key={KEY}"
    reported = ("-o", "out", "--ranker", "win-rate", "--ranker_judge", "openai-api/standin/judge")
    assert two(*reported, "--ranker_judge_args", where) == 0
    fates = [one.fate for one in server.calls() if one.model == "judge"]
    assert fates.count("cut") >= 2
    assert fates.count("answered") == 24
    assert results(FOLDER)["podium"]["rankings"][0]["counts"]["unparsed"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("more", [(), ("--ranker_args", "limit=2")])
def test_only_what_this_run_answered_is_played(monkeypatch, task_of_sums, server, judge, more):
    for model, limit in ((MODELS[0], "12"), ("oak-0.3", "12")):
        assert (
            run(
                monkeypatch,
                task_of_sums,
                server,
                model,
                "-o",
                "out",
                "--log_samples",
                "--limit",
                limit,
            )
            == 0
        )
    assert run(monkeypatch, task_of_sums, server, MODELS[1], "--limit", "3", *judge, *more) == 0
    items = 2 if more else 3
    assert calls(server, ["judge"]) == 2 * 3 * items
    battles = read_battles(newest_log())
    assert len(battles) == 3 * items
    assert (
        battles.table.groupby("item", observed=True)
        .apply(lambda own: MODELS[1] in set(own["model_b"]))
        .all()
    )
    assert battles.missing == 0


@pytest.mark.slow
def test_predictions_alone_are_judged_and_a_first_run_leaves_nothing_behind(
    monkeypatch, task_of_sums, server, capfd
):
    reported = (
        "-o",
        "out",
        "--predict_only",
        "--limit",
        "2",
        "--ranker",
        "win-rate",
        "--ranker_judge",
        "podium/offline",
    )
    assert run(monkeypatch, task_of_sums, server, MODELS[0], *reported) == 0
    assert not list(Path().glob("out.podium*"))
    assert run(monkeypatch, task_of_sums, server, MODELS[1], *reported) == 0
    assert results(FOLDER)["podium"]["rankings"][0]["counts"]["battles"] == 2
    assert "bypass" in capfd.readouterr().out


@pytest.mark.slow
def test_the_merged_verdicts_of_a_jury_rank_and_each_judge_is_the_detail(
    two, judge, server, tmp_path
):
    jury = (*judge, "--ranker_judge", "openai-api/standin/judge", "openai-api/standin/other")
    assert two(*jury, "--ranker_args", "items=4") == 0
    assert calls(server, ["judge"]) == calls(server, ["other"]) == 8
    kept = results(FOLDER)
    rankers = ("bradley-terry", "win-rate")
    figures = {name for name in kept["results"]["sums"] if name.endswith(",podium")}
    assert figures == {f"{name}{end},podium" for name in rankers for end in ("", "_stderr")}
    assert [row["slice"] for row in kept["podium"]["rankings"]] == [None, None]
    assert len(kept["podium"]["details"]) == 4
    by_command = json.loads(rank(read_battles(newest_log()), rankers).to_json())
    for part in ("rankings", "details"):
        tables = [row["models"] for row in kept["podium"][part]]
        assert tables == [row["models"] for row in by_command[part]]


@pytest.mark.slow
def test_log_of_a_finished_tournament_names_its_judge_and_contains_no_header(
    two, judge, server, capfd
):
    in_a_header = f"{judge[-1]},default_headers={{'X-Token': '{KEY}'}}"
    assert two(*judge[:-1], in_a_header, "--ranker_args", "items=2") == 0
    assert {one.bearer for one in server.calls() if one.model == "judge"} == {KEY}
    assert leaks(*capfd.readouterr()) == []
    config = read_eval_log(str(newest_log()), header_only=True).eval
    assert str(config.task_registry_name).endswith("round_robin")
    assert config.model_roles["judge"].model == "openai-api/standin/judge"
    assert not {"api_key", "default_headers"} & config.model_roles["judge"].args.keys()
    # A finished tournament is not continued, so the responses are not kept a second time.
    assert config.task_args["responses"] == [str(FOLDER), f"out/{MODELS[0]}"]
    assert not Path("out.podium.runs").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "stated"),
    [
        (("--ranker_args", "realisation=labels"), "did you mean 'realization'?"),
        (("--ranker_args", "orders=twice"), "orders=twice: there is no such choice"),
        (("--ranker_tournament", "swiss"), "no tournament called 'swiss'"),
        (
            ("--ranker_judge", f"lm-eval:hf,pretrained=m,api_key={KEY}"),
            "lm-eval:hf: judges are models of Inspect",
        ),
        (("--ranker_judge", "nobody/judge"), "--ranker_judge nobody/judge"),
        (
            ("--ranker_judge_args", f"base_url=http://me:{KEY}@localhost/v1"),
            "base_url holds a password",
        ),
        (("--ranker_judge_args", KEY), "there is a part without `=`"),
        (("--ranker_metric", "exact_match"), "--ranker_judge ranks by a judge: leave out one"),
    ],
)
def test_a_tournament_that_cannot_be_is_rejected_before_the_run(
    more, stated, judge, monkeypatch, task_of_sums, server, capfd
):
    assert (
        run(monkeypatch, task_of_sums, server, MODELS[0], *judge[:-1], "temperature=0", *more) == 2
    )
    err = capfd.readouterr().err
    assert stated in err
    assert KEY not in err
    assert server.calls() == []


@pytest.mark.slow
@pytest.mark.parametrize("is_judged", [True, False])
def test_notes_name_the_folders_of_other_runs_as_the_user_knows_them(two, judge, capfd, is_judged):
    [samples] = Path("out", MODELS[0]).glob("samples_*.jsonl")
    whole = samples.read_text(encoding="utf-8")
    samples.write_text(whole.rstrip()[:-20], encoding="utf-8")
    options = judge if is_judged else ("-o", "out", "--ranker", "bradley-terry")
    capfd.readouterr()
    assert two(*options) == 0
    printed = capfd.readouterr().err
    assert "cut off, so its document is missing" in printed
    assert "others/1" not in printed
    assert f"out/{MODELS[0]}" in printed


@pytest.mark.slow
@pytest.mark.parametrize("is_judged", [True, False])
def test_what_is_kept_names_the_folders_of_the_user(two, judge, is_judged):
    [other] = Path("out", MODELS[0]).glob("samples_*.jsonl")
    options = judge if is_judged else ("-o", "out", "--ranker", "bradley-terry")
    assert two(*options) == 0
    provenance = results(FOLDER)["podium"]["provenance"]
    texts = [json.dumps(provenance)]
    files = [{run["source"] for run in provenance["runs"]}]
    if is_judged:
        header = read_eval_log(str(newest_log()), header_only=True)
        texts.append(header.model_dump_json())
        files.append(set(header.eval.metadata["podium_sources"]))
        files.append({run["source"] for run in header.eval.metadata["podium_runs"]})
        assert podium.rank(podium.read_battles(str(newest_log()))).standings
    else:
        files.append(set(provenance["sources"]))
    assert files == [{f"{FOLDER}/samples_sums_*.jsonl", str(other)}] * len(files)
    assert glob(f"{FOLDER}/samples_sums_*.jsonl")
    assert not any("others/1" in text or "podium.runs" in text for text in texts)


@pytest.mark.slow
def test_a_run_that_is_not_saved_is_named_so(two, judge):
    out = judge.index("-o")
    unsaved = (*judge[:out], *judge[out + 2 :], "--ranker_against", f"out/{MODELS[0]}")
    assert two(*unsaved) == 0
    [log] = Path("logs").glob("*.eval")
    sources = read_eval_log(str(log), header_only=True).eval.metadata["podium_sources"]
    assert [source for source in sources if source.startswith("this run (lm-eval saved no")]
    assert podium.rank(podium.read_battles(str(log))).standings
