"""Files in a store: ranked from there and written there. The store is moto's S3 on this machine."""

import gzip
import http.server
import json
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import podium
from podium.rankers.given_ratings import read_ladder
from podium.storage.atomic_files import atomic_file, write_text
from podium.storage.remote import RemoteFile, is_url, place_of, without_secrets

boto3 = pytest.importorskip("boto3")
pytest.importorskip("s3fs")
moto = pytest.importorskip("moto.server")
SECRET = "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY"
BUCKET = "podium-test"


@pytest.fixture(scope="module")
def store() -> Iterator[Any]:
    """A client of the store, in which there is one bucket."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    with pytest.MonkeyPatch.context() as patch:
        try:
            server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
            server.start()
            host, port = server.get_host_and_port()
        except OSError as error:
            pytest.skip(f"moto's server does not start: {error}")
        patch.setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
        patch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        patch.setenv("NO_PROXY", "127.0.0.1")
        client = boto3.client("s3")
        client.create_bucket(Bucket=BUCKET)
        yield client
        server.stop()


@pytest.fixture
def folder(store: Any, request: pytest.FixtureRequest) -> Callable[..., str]:
    """Return `folder(name, bytes)`, which puts an object and returns its URL; each test has a
    folder of its own."""

    def put(name: str, content: bytes) -> str:
        key = f"{request.node.name.replace('[', '-').replace(']', '')}/{name}"
        store.put_object(Bucket=BUCKET, Key=key, Body=content)
        return f"s3://{BUCKET}/{key}"

    return put


@pytest.fixture(scope="module")
def votes() -> pd.DataFrame:
    return podium.simulate(models=3, items=20, seed=1).battles().to_frame()


def as_bytes(frame: pd.DataFrame, suffix: str) -> bytes:
    """Write verdicts as podium does."""
    from podium.data.formats.podium_table import write

    path = Path(f"votes{suffix}")
    write(frame, path)
    return path.read_bytes()


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def figures(*sources: object) -> list[Any]:
    return (
        podium.rank(podium.read_battles(*sources), "bradley-terry")
        .to_frame()["score"]
        .round(9)
        .tolist()
    )


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_a_table_in_a_store_is_ranked_as_on_disk(
    folder: Callable[..., str], votes: pd.DataFrame, suffix: str
) -> None:
    url = folder(f"votes{suffix}", as_bytes(votes, suffix))
    battles = podium.read_battles(url)
    assert figures(url) == figures(f"votes{suffix}")
    assert battles.sources == (url,)


@pytest.mark.slow
def test_a_glob_a_folder_and_a_labelled_url_name_several_objects_or_one(
    folder: Callable[..., str], votes: pd.DataFrame
) -> None:
    half = len(votes) // 2
    first = folder("a/part-1.csv", as_bytes(votes.iloc[:half], ".csv"))
    second = folder("a/part-2.csv", as_bytes(votes.iloc[half:], ".csv"))
    folder("a/notes.txt", b"no verdicts")
    folder("a/.podium-0beec7b5-5e1f00d5.tmp", b"half")
    above = first.rpartition("/a/")[0]
    as_bytes(votes, ".csv")
    for source in (
        f"{above}/a/*.csv",
        f"{above}/a/part-?.csv",
        f"{above}/*/*.csv",
        above,
        f"{above}/",
    ):
        assert podium.read_battles(source).sources == (first, second), source
        assert figures(source) == figures("votes.csv")
    labelled = podium.read_battles(f"mine={first}")
    assert set(labelled.table["source"]) == {"mine"}


@pytest.mark.slow
def test_a_packed_object_is_read(folder: Callable[..., str], votes: pd.DataFrame) -> None:
    url = folder("votes.jsonl.gz", gzip.compress(as_bytes(votes, ".jsonl")))
    assert figures(url) == figures("votes.jsonl")


@pytest.mark.slow
def test_a_damaged_object_is_named_by_its_url(folder: Callable[..., str]) -> None:
    url = folder(
        "votes.jsonl", b'{"model_a": "a", "model_b": "b", "credit": 1}\n{"model_a": "a", "mo'
    )
    with pytest.raises(podium.DataError) as caught:
        podium.read_battles(url)
    assert caught.value.source == url
    assert str(caught.value).startswith(f"{url}, line 2: ")


@pytest.mark.slow
def test_changed_object_is_copied_again_from_the_store(
    folder: Callable[..., str], votes: pd.DataFrame
) -> None:
    url = folder("votes.csv", as_bytes(votes.iloc[:10], ".csv"))
    assert len(podium.read_battles(url, merge=False)) == 10
    assert folder("votes.csv", as_bytes(votes.iloc[:12], ".csv")) == url
    assert len(podium.read_battles(url, merge=False)) == 12


@pytest.mark.slow
def test_lm_evals_folder_in_a_store_is_compared_document_by_document(
    folder: Callable[..., str],
) -> None:
    from lm_eval_output import TIME, sample

    for model, values in {"ash": (1, 1, 0, 1), "elm": (1, 0, 0, 1)}.items():
        rows = [sample(f"q{k}", {"acc": float(value)}, place=k) for k, value in enumerate(values)]
        about = {
            "results": {"sums": {}},
            "configs": {},
            "model_name": f"org/{model}",
            "higher_is_better": {},
        }
        text = "".join(json.dumps(row) + "\n" for row in rows)
        samples = folder(f"out/org__{model}/samples_sums_{TIME}.jsonl", text.encode())
        folder(f"out/org__{model}/results_{TIME}.json", json.dumps(about).encode())
    out = samples.rpartition("/out/")[0] + "/out"
    for source in (out, f"{out}/*/samples_*.jsonl"):
        battles = podium.read_battles(source)
        assert {*battles.table["model_a"], *battles.table["model_b"]} == {"org/ash", "org/elm"}
        assert all(name.startswith("s3://") for name in battles.sources)


@pytest.mark.slow
def test_a_log_in_a_store_is_ranked_and_written_into(
    store: Any, folder: Callable[..., str]
) -> None:
    from inspect_ai import eval as evaluate
    from inspect_ai.log import read_eval_log

    from podium.hosts.inspect_ai.logs.ranking_in_log import write_into_log
    from podium.hosts.inspect_ai.tasks import round_robin

    rows = [
        {"id": f"q{k}", "instruction": "Say.", "response": "word " * (k + j), "model": name}
        for k in range(1, 4)
        for j, name in enumerate(("ash", "elm"))
    ]
    Path("answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    task, roles = round_robin(responses="answers.jsonl"), {"judge": "podium/offline"}
    [log] = evaluate(task, model_roles=roles, log_dir="logs", log_format="eval", display="none")
    local = Path(log.location.removeprefix("file://"))
    url = folder(f"logs/{local.name}", local.read_bytes())
    battles = podium.read_battles(url.rpartition("/")[0])
    assert battles.sources == (url,)
    pd.testing.assert_frame_equal(battles.table, podium.read_battles(local).table)
    ranking = podium.rank(battles, "win-rate")
    write_into_log(place_of(url), ranking)
    Path("again.eval").write_bytes(
        store.get_object(Bucket=BUCKET, Key=url.partition(f"{BUCKET}/")[2])["Body"].read()
    )
    results = read_eval_log("again.eval", header_only=True).results
    assert results is not None
    assert "win-rate" in {held["ranker"] for held in results.metadata["podium"]["rankings"]}


@pytest.mark.slow
def test_logs_that_inspect_wrote_into_a_store_are_ranked_there_and_from_there(
    store: Any, folder: Callable[..., str]
) -> None:
    from inspect_ai import eval as evaluate
    from inspect_ai.log import list_eval_logs, read_eval_log

    from podium.hosts.inspect_ai.tasks import round_robin

    names = ("ash", "elm", "oak")
    rows = [
        {
            "id": f"q{k}",
            "instruction": f"Say {k} words.",
            "response": "word " * (k + j),
            "model": name,
        }
        for k in range(1, 7)
        for j, name in enumerate(names)
    ]
    answers = folder("answers.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode())
    logs = answers.rpartition("/")[0] + "/logs"
    [log] = evaluate(
        round_robin(responses=answers),
        model_roles={"judge": "podium/offline"},
        log_dir=logs,
        log_format="eval",
        display="none",
    )
    [known] = list_eval_logs(logs)
    results = read_eval_log(known.name, header_only=True).results
    assert results is not None
    [ranking] = results.metadata["podium"]["rankings"]
    assert {row["model"] for row in ranking["models"]} == set(names)
    prefix = logs.partition(f"{BUCKET}/")[2]
    listed = store.list_objects_v2(Bucket=BUCKET, Prefix=prefix)["Contents"]
    assert sorted(each["Key"].rpartition(".")[2] for each in listed) == ["eval", "ranking"]
    for source in (logs, log.location):
        battles = podium.read_battles(source)
        assert battles.sources == (log.location,)
        standings = podium.rank(battles, "bradley-terry").to_dict()["rankings"][0]
        assert standings["models"] == ranking["models"]


def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str
) -> tuple[int, str, str]:
    from podium.cli.main import main

    monkeypatch.setattr("sys.argv", ["podium", *words])
    with pytest.raises(SystemExit) as stop:
        main()
    stated = capsys.readouterr()
    return int(stop.value.code or 0), stated.out, stated.err


@pytest.mark.slow
def test_a_ranking_in_a_store_is_shown_and_exported_as_on_disk(
    folder: Callable[..., str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = Path(__file__).parents[2] / "examples" / "simulated" / "battles.csv"
    made = tmp_path / "podium-made.ranking"
    ranking = podium.rank(podium.read_battles(source), "bradley-terry")
    made.write_text(json.dumps(ranking.to_dict()), encoding="utf-8")
    url = folder("logs/podium-made.ranking", made.read_bytes())
    pages = []
    for name, place in (("local", str(made)), ("remote", url)):
        page = tmp_path / f"{name}.html"
        code, _, err = run(monkeypatch, capsys, "report", place, "-o", str(page))
        assert code == 0, err
        assert "amber, birch and cedar lead" in page.read_text(encoding="utf-8")
        records = tmp_path / name
        to = ("--to", "every-eval-ever", "-o", str(records))
        code, _, err = run(monkeypatch, capsys, "export", place, *to)
        assert code == 0, err
        pages.append(len([*records.rglob("*.json")]))
        code, out, err = run(monkeypatch, capsys, "diagnose", str(source), "--gold", place)
        assert code == 0, err
        pages.append(out.replace(place, "GOLD"))
    assert pages[:2] == pages[2:]
    assert read_ladder(url) == replace(read_ladder(str(made)), source=url)


@pytest.mark.slow
def test_an_absent_ranking_in_a_store_is_reported_with_its_url(
    folder: Callable[..., str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    url = folder("logs/other.txt", b"").replace("other.txt", "podium-absent.ranking")
    for words in (
        ("report", url, "-o", str(tmp_path / "page.html")),
        ("export", url, "--to", "every-eval-ever", "-o", str(tmp_path / "records")),
    ):
        code, _, err = run(monkeypatch, capsys, *words)
        assert code == 2
        assert url in err


@pytest.mark.slow
def test_results_are_written_into_a_store_whole(
    store: Any,
    folder: Callable[..., str],
    votes: pd.DataFrame,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    votes_url = folder("votes.csv", as_bytes(votes, ".csv"))
    for name, words in {
        "ranking.json": ("rank", "votes.csv", "--format", "json"),
        "battles.parquet": ("convert", "votes.csv"),
        "battles.csv": ("convert", votes_url),
    }.items():
        url = folder(name, b"old")
        code, _, err = run(monkeypatch, capsys, *words, "-o", url)
        assert (code, f"{url}" in err) == (0, True)
        body = store.get_object(Bucket=BUCKET, Key=url.partition(f"{BUCKET}/")[2])["Body"].read()
        assert run(monkeypatch, capsys, *words, "-o", name)[0] == 0
        assert body == Path(name).read_bytes()


def test_unfinished_file_is_not_uploaded(store: Any, folder: Callable[..., str]) -> None:
    url = folder("out.csv", b"old")

    def break_off() -> None:
        with atomic_file(place_of(url)) as new_file:
            new_file.write_text("half of")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        break_off()
    assert (
        store.get_object(Bucket=BUCKET, Key=url.partition(f"{BUCKET}/")[2])["Body"].read() == b"old"
    )


@pytest.mark.fast_cases(2)
@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    ("source", "problem"),
    [
        (f"s3://{BUCKET}/nowhere.csv", "there is nothing of this name"),
        (f"s3://{BUCKET}/nowhere/*.csv", "there is nothing of this name"),
        ("s3://podium-no-such-bucket/votes.csv", "check the path, and the bucket"),
        ("s3://podium-no-such-bucket/*.csv", "check the path, and the bucket"),
        ("ftp://host/votes.csv", r"podium reads local files, s3://, gs:// and https://"),
    ],
)
def test_missing_object_is_reported_with_its_url(source: str, problem: str) -> None:
    with pytest.raises(podium.UsageError, match=problem) as caught:
        podium.read_battles(source)
    assert str(caught.value).count(source) == 1


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    ("target", "problem"),
    [
        (
            "s3://podium-no-such-bucket/out.json",
            "there is no bucket 'podium-no-such-bucket'; create it",
        ),
        (f"s3://{BUCKET}/", "name an object to write"),
        ("https://host/out.json", "nothing can be written there"),
        (f"s3://{BUCKET}/out.xlsx", "is none of"),
    ],
)
def test_unwritable_store_is_reported_before_reading(
    target: str, problem: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(monkeypatch, capsys, "plan", "--models", "3", "-o", target)
    assert code == 2
    assert problem in err or "cannot write 'out.xlsx'" in err


def test_a_missing_driver_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacks(scheme: str, **options: object) -> None:
        raise ImportError(f"Install s3fs to access {scheme}", options)

    monkeypatch.setattr("fsspec.filesystem", lacks)
    with pytest.raises(podium.UsageError, match=r"s3:// needs s3fs .* pip install '.\[s3\]'"):
        podium.read_battles("s3://bucket/votes.csv")
    with pytest.raises(podium.UsageError, match=r"gs:// needs gcsfs .* pip install '.\[gs\]'"):
        podium.read_battles("gs://bucket/votes.csv")


@pytest.mark.slow
def test_missing_credentials_are_reported_with_the_variables_to_set(
    store: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import s3fs

    del store
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    s3fs.S3FileSystem.clear_instance_cache()
    with pytest.raises(
        podium.UsageError, match=r"no credentials\. Remedy: set AWS_PROFILE, or AWS_ACCESS_KEY_ID"
    ):
        podium.read_battles(f"s3://{BUCKET}/votes.csv")
    s3fs.S3FileSystem.clear_instance_cache()


def test_a_driver_without_credentials_from_the_start_names_what_to_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def lacks(scheme: str, **options: object) -> None:
        raise type("DefaultCredentialsError", (Exception,), {})(scheme, options)

    monkeypatch.setattr("fsspec.filesystem", lacks)
    with pytest.raises(
        podium.UsageError, match=r"gs://bucket/votes.csv: no credentials\. Remedy: run `gcloud auth"
    ):
        podium.read_battles("gs://bucket/votes.csv")


class Server(http.server.BaseHTTPRequestHandler):
    """Serves one table to whoever knows the signature, and no parts of it."""

    table = b"item,model_a,model_b,credit\n" + b"".join(
        b"i%d,a,b,%d\n" % (k, k % 3 > 0) for k in range(9)
    )

    def do_GET(self) -> None:
        status = 404 if "nowhere" in self.path else 200 if "sig=s3cret" in self.path else 403
        self.send_response(status)
        self.end_headers()
        self.wfile.write(self.table if status == 200 else b"")

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, *words: object) -> None:
        """Say nothing."""


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.mark.slow
def test_a_signed_url_is_ranked_and_its_signature_is_shown_nowhere(
    web: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"http://me:pa55word@{web}/votes.csv?sig=s3cret&expires=9"
    code, out, err = run(monkeypatch, capsys, "rank", url, "--format", "json")
    assert code == 0
    assert json.loads(out)["provenance"]["sources"] == [f"http://{web}/votes.csv"]
    for wrong in (
        f"http://me:pa55word@{web}/nowhere.csv?sig=s3cret",
        f"http://me:pa55word@{web}/votes.csv?sig=s3cre7",
    ):
        code, more, stated = run(monkeypatch, capsys, "rank", wrong)
        assert code == 2
        out, err = out + more, err + stated
    assert "there is nothing of this name" in err
    assert "access denied" in err
    for secret in ("s3cre", "pa55word", "expires"):
        assert secret not in out + err


def test_network_error_is_reported_without_secrets() -> None:
    with pytest.raises(podium.DataError, match="see whether it can be reached") as caught:
        podium.read_battles("http://me:pa55word@127.0.0.1:9/votes.csv?sig=s3cret")
    assert caught.value.source == "http://127.0.0.1:9/votes.csv"
    assert "pa55word" not in str(caught.value)
    assert "s3cret" not in str(caught.value)


@pytest.mark.slow
def test_store_messages_contain_no_key(
    folder: Callable[..., str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    url = folder("votes.csv", Server.table)
    _, out, err = run(monkeypatch, capsys, "rank", url, "--format", "json")
    assert SECRET not in out + err
    assert "AKIA" not in out + err


def test_two_urls_that_differ_by_their_query_have_copies_of_their_own() -> None:
    one, other = (RemoteFile(f"https://host/votes.csv?page={k}") for k in (1, 2))
    assert one.local_path != other.local_path
    assert str(one) == str(other) == "https://host/votes.csv"


def test_no_copy_lies_outside_its_folder() -> None:
    path = RemoteFile("https://host/../../../etc/votes.csv").local_path
    assert ".." not in path.parts


def test_a_glob_of_a_store_is_no_query() -> None:
    assert without_secrets("s3://bucket/run?.csv") == "s3://bucket/run?.csv"


def test_commands_that_touch_no_store_load_no_driver() -> None:
    code = (
        "import sys, podium.cli.main; sys.exit(not {'fsspec', 's3fs', "
        "'numpy'}.isdisjoint(sys.modules))"
    )
    assert os.system(f'{sys.executable} -c "{code}"') == 0


def test_a_text_in_a_local_place_needs_no_driver(tmp_path: Path) -> None:
    write_text(place_of(f"file://{tmp_path}/out.txt"), "new")
    assert (tmp_path / "out.txt").read_text() == "new"


def test_urls_are_known_by_their_scheme_and_shown_without_secrets() -> None:
    assert list(
        map(is_url, ("s3://bucket/votes.csv", "votes.csv", "gpt=s3://bucket/votes.csv"))
    ) == [
        True,
        False,
        False,
    ]
    shown = without_secrets("https://me:word@host/votes.csv?Signature=1f is gone")
    assert shown == "https://host/votes.csv is gone"
