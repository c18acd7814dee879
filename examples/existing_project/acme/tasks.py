"""Three tasks: sums (two epochs), advice (two figures per reply), and an agent that reads files."""

from inspect_ai import Epochs, Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageAssistant, ChatMessageTool
from inspect_ai.scorer import Score, Scorer, Target, includes, match, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver
from inspect_ai.tool import ToolCall

TOPICS = (
    "learning to swim",
    "moving to another city",
    "keeping a garden alive in August",
    "a first talk before many people",
    "getting up early",
    "reading more books",
    "cooking for twelve",
    "writing a long letter",
    "choosing a used bicycle",
    "sleeping on a night train",
    "painting a small room",
    "repairing a chair",
)


@task
def arithmetic() -> Task:
    """Return sums, each asked twice; accuracy."""
    sums = [(17 + 3 * k, 5 + 7 * k) for k in range(30)]
    samples = [Sample(f"What is {a} + {b}?", target=str(a + b), id=f"sum-{a}-{b}") for a, b in sums]
    return Task(MemoryDataset(samples), solver=generate(), scorer=match(), epochs=Epochs(2))


@scorer(metrics={"useful": [mean(), stderr()], "polite": [mean(), stderr()]})
def advice_figures() -> Scorer:
    """Return a scorer with two figures: three tips are useful, thanks are polite."""

    async def score(state: TaskState, target: Target) -> Score:
        del target
        text = state.output.completion
        useful = min(text.count("."), 3) / 3
        return Score(value={"useful": useful, "polite": float("Good question" in text)})

    return score


@task
def advice() -> Task:
    """Return questions without a right answer; two figures per reply."""
    samples = [
        Sample(f"What helps with {topic}? Write at least three sentences.", id=f"advice-{k}")
        for k, topic in enumerate(TOPICS)
    ]
    return Task(MemoryDataset(samples), solver=generate(), scorer=advice_figures())


@solver
def read_file() -> Solver:
    """Return an agent of one step: it calls a tool, reads the result and answers."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        name = state.metadata["file"]
        call = ToolCall(id="1", function="read", arguments={"path": name})
        said = f"The file says: {state.metadata['word']}"
        state.messages += [
            ChatMessageAssistant(content=f"I look into {name}.", tool_calls=[call]),
            ChatMessageTool(content=said, tool_call_id="1", function="read"),
        ]
        return await generate(state)

    return solve


@task
def files() -> Task:
    """Return questions about files that an agent reads with a tool."""
    words = ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath")
    samples = [
        Sample(
            f"Which word is in note-{k}.txt?",
            target=word,
            id=f"file-{k}",
            metadata={"file": f"note-{k}.txt", "word": word},
        )
        for k, word in enumerate(words)
    ]
    return Task(MemoryDataset(samples), solver=read_file(), scorer=includes())
