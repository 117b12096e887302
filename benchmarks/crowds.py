"""The crowds that everybody is asked about, as files that are made once: the same bytes for all."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as arrow
from pyarrow import parquet

from environments import MADE

BOUNDS = (0.0, 100.0)


@dataclass(frozen=True)
class CrowdFile:
    """A crowd: whether people clicked (three in ten), one of the keys (the k-th 1/k as often as the first), and a
    number from 0 to 100, of which small ones are more frequent."""

    people: int
    keys: int

    @property
    def path(self) -> Path:
        found = MADE / "data" / f"{self.people}-{self.keys}.parquet"
        if not found.exists():
            found.parent.mkdir(parents=True, exist_ok=True)
            parquet.write_table(self._table(), found, row_group_size=1 << 20)
        return found

    def array(self, name: str) -> Path:
        """A column alone, for who reads no such files."""
        found = self.path.with_name(f"{self.path.stem}-{name}.npy")
        if not found.exists():
            np.save(found, self.column(name))
        return found

    def column(self, name: str) -> npt.NDArray[np.float64]:
        return np.asarray(parquet.read_table(self.path, columns=[name])[name].to_numpy())

    def truth(self, task: str) -> npt.NDArray[np.float64]:
        if task == "histogram":
            return np.bincount(self.column("key").astype(np.int64), minlength=self.keys).astype(np.float64)
        return np.array([self.column("clicked").sum() if task == "count" else self.column("value").mean()])

    def _table(self) -> arrow.Table:
        rng = np.random.default_rng(1)  # noqa: TID251
        often = 1.0 / np.arange(1, self.keys + 1)
        keys = np.searchsorted(np.cumsum(often / often.sum()), rng.random(self.people)).clip(max=self.keys - 1)
        return arrow.table({
            "clicked": (rng.random(self.people) < 0.3).astype(np.int64),
            "key": keys.astype(np.int64),
            "value": BOUNDS[1] * rng.random(self.people) ** 2,
        })  # fmt: skip
