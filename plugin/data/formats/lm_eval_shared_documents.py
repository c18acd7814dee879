"""Find the documents of a task that several models have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class SharedDocuments:
    """Which documents of a task several models have.

    Attributes:
        models: all models.
        sizes: by model, the number of its documents, shared or not; models that share no document
            with another are left out.
        shared: number of documents that two or more models have.
        common: number of documents that all models in `sizes` have.
        differ: whether models in `sizes` have different documents.
        is_shared_row: mask of the rows of shared documents, shape (rows,).
    """

    models: Sequence[str]
    sizes: Mapping[str, int]
    shared: int
    common: int
    differ: bool
    is_shared_row: np.ndarray

    @classmethod
    def of_rows(cls, rows: "pd.DataFrame") -> "SharedDocuments":
        """Find the shared documents by the columns `model` and `item` of the rows of a task.

        A document is shared if at least two models have it. Models without a shared document are
        not compared, and do not count in `sizes`, `common` and `differ`.
        """
        import pandas as pd

        item_codes, items = pd.factorize(rows["item"])
        model_codes, names = pd.factorize(rows["model"])
        # Whether a model has a document, shape (models, documents).
        has_document = np.zeros((len(names), len(items)), dtype=bool)
        has_document[model_codes, item_codes] = True
        is_shared = has_document.sum(axis=0) > 1
        models = [str(name) for name in names]
        is_compared = (has_document & is_shared).any(axis=1)
        of_compared = has_document[is_compared]
        compared = [name for name, holds in zip(models, is_compared, strict=True) if holds]
        sizes = dict(zip(compared, of_compared.sum(axis=1).tolist(), strict=True))
        return cls(
            models=models,
            sizes=sizes,
            shared=int(is_shared.sum()),
            common=int(of_compared.all(axis=0).sum()),
            differ=bool((of_compared != of_compared[:1]).any()),
            is_shared_row=is_shared[item_codes],
        )
