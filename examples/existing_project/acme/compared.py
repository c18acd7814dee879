"""A task that the team added when it knew podium: advice, compared with the answers in a log."""

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.solver import generate

from acme.tasks import TOPICS
from podium.inspect import pairwise, pairwise_viewer


@task
def compared_advice(reference: str | list[str]) -> Task:
    """Return questions without a right answer, each answer compared with those in other logs.

    Args:
        reference: the log of a reference, or several.
    """
    samples = [
        Sample(f"What helps with {topic}? Write at least three sentences.", id=f"advice-{k}")
        for k, topic in enumerate(TOPICS)
    ]
    return Task(
        MemoryDataset(samples),
        solver=generate(),
        scorer=[pairwise(reference=reference)],
        viewer=pairwise_viewer(),
    )
