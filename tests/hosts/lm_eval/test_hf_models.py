"""A tiny Hugging Face model, made here, as one more model and as a judge.

It needs the extra `test-hf`, because PyTorch is large.
"""

from pathlib import Path

import pytest

pytest.importorskip("lm_eval.api")
pytest.importorskip("inspect_ai")
pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch
import transformers
from running import bare, calls, results, run
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

VERDICT, END = "A", "<end>"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> Path:
    """Make a model that says A and ends, whatever it is shown: a judge that always prefers what
    stands first.

    Random embeddings, at right angles to each other, pass through a layer that adds nothing. The
    head answers the embedding of A with the end, and every other with A.
    """
    folder = tmp_path_factory.mktemp("tiny") / "tiny-hf"
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {one: k for k, one in enumerate([*letters, END])}
    plain = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    plain.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    plain.decoder = decoders.ByteLevel()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=plain, eos_token=END, pad_token=END
    )
    config = transformers.LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=264,
        intermediate_size=8,
        num_hidden_layers=1,
        num_attention_heads=4,
        max_position_embeddings=8192,
        tie_word_embeddings=False,
        bos_token_id=vocabulary[END],
        eos_token_id=vocabulary[END],
        pad_token_id=vocabulary[END],
    )
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(config)
    embeddings = torch.linalg.qr(torch.randn(264, 264))[0][: len(vocabulary)]
    with torch.no_grad():
        model.model.embed_tokens.weight.copy_(embeddings)
        model.model.layers[0].self_attn.o_proj.weight.zero_()
        model.model.layers[0].mlp.down_proj.weight.zero_()
        model.lm_head.weight.zero_()
        model.lm_head.weight[vocabulary[VERDICT]] = (
            embeddings.sum(0) - embeddings[vocabulary[VERDICT]]
        )
        model.lm_head.weight[vocabulary[END]] = embeddings[vocabulary[VERDICT]]
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_small_hf_model_is_ranked_last_and_judges_only_ties(
    tiny, monkeypatch, task_of_sums, server, tmp_path, capfd
):
    """It never adds, so it loses; as a judge it prefers each side once, so every battle is half a
    win for both."""
    few = ("--limit", "6", "-o", "out")
    reported = ("--model", "hf", "--model_args", f"pretrained={tiny}", "--device", "cpu")
    reported += ("--include_path", str(task_of_sums), "--tasks", "sums")
    assert run(monkeypatch, task_of_sums, server, "ash-0.9", *few, "--log_samples") == 0
    assert bare(monkeypatch, "run", *reported, *few, "--ranker", "win-rate") == 0
    [own] = [one for one in Path("out").iterdir() if one.name.endswith("tiny-hf")]
    by_metric = results(own)
    assert by_metric["results"]["sums"]["exact_match,number"] == 0.0
    assert by_metric["podium"]["rankings"][0]["models"][-1]["model"].endswith("tiny-hf")
    where = f"model_path={tiny},device=cpu"
    judged = ("--ranker", "win-rate", "--ranker_judge", "hf/tiny", "--ranker_judge_args", where)
    judged += ("--ranker_args", "logprobs=off")
    assert bare(monkeypatch, "run", *reported, *few, *judged) == 0
    [standings] = results(own)["podium"]["rankings"]
    assert standings["counts"]["battles"] == 6
    assert standings["counts"]["unparsed"] == 0
    assert [one["score"] for one in standings["models"]] == [0.5, 0.5]
    assert "flip 100.0% of 6" in capfd.readouterr().err
    assert calls(server, ["ash-0.9"]) == 6
