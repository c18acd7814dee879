"""Logs of scripted agents: their messages are made in a solver, as Inspect's own tool loop loads a
token table."""

from pathlib import Path

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, ModelOutput
from inspect_ai.solver import solver
from inspect_ai.tool import ToolCall, ToolCallError


def call(key, tool, **arguments):
    """Return a message with one tool call."""
    return ChatMessageAssistant(
        content="", tool_calls=[ToolCall(id=key, function=tool, arguments=arguments)]
    )


def result(key, tool, text, error=None):
    """Return the result of a tool call, or its error."""
    return ChatMessageTool(content=text, tool_call_id=key, function=tool, error=error)


def two_tools(name, item):
    """Return the messages of an agent that looks up the weather and converts it, with one error."""
    return [
        ChatMessageAssistant(content=f"{name} begins {item}."),
        call("1", "weather", city=f"Oslo {item} {name}"),
        result("1", "weather", "", ToolCallError("timeout", f"no answer for {name} {item}")),
        call("2", "convert", degrees=12, to=f"F {name}"),
        result("2", "convert", f"53.6 for {name} {item}, at length: " + "mild " * 100),
        ChatMessageAssistant(content=f"{name} says 53.6 to {item}, quality={len(name)}"),
    ]


def only_answer(name, item):
    """Return the message of a model that calls no tool."""
    return [ChatMessageAssistant(content=f"{name} answers {item}, quality={len(name)}")]


def write_logs(folder: Path, messages, models=("ash", "willow"), items=3, task="weather") -> str:
    """Evaluate scripted models, `messages(model, item)`; return the folder with a log for each."""

    @solver
    def scripted(name):
        async def solve(state, generate):
            state.messages += messages(name, state.sample_id)
            state.output = ModelOutput.from_message(state.messages[-1])
            return state

        return solve

    for name in models:
        samples = [
            Sample(id=f"q{k}", input=f"How warm is it in Oslo on day {k}?") for k in range(items)
        ]
        own_task = Task(dataset=samples, solver=scripted(name), name=task)
        [log] = eval(own_task, model=f"mockllm/{name}", log_dir=str(folder), display="none")
        assert log.status == "success", log.error
    return str(folder)
