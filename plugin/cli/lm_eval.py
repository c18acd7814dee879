"""podium lm_eval: the stock `lm_eval` command, and --ranker."""

import click


@click.command(
    "lm_eval",
    short_help="The stock lm_eval command, with --ranker on run.",
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []},
    add_help_option=False,
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def lm_eval(context: click.Context, arguments: tuple[str, ...]) -> None:
    """Run `lm_eval ARGUMENTS...`; with --ranker NAME the model is ranked among earlier runs, by metric or judge.

    \b
    podium lm_eval run --model hf --model_args pretrained=gpt2 --tasks gsm8k -o runs --ranker bradley-terry
    podium lm_eval run ... --ranker soft-elo --ranker_against runs/ --ranker_judge openai/gpt-5
    """
    from podium.hosts.lm_eval.command import main

    context.exit(main(arguments))
