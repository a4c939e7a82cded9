"""polars: a column of 16 chunks put together."""

import polars as pl
from repeat import repeat

part = pl.Series("a", range(1 << 17), pl.Int64)
chunks = part
for _ in range(15):
    chunks = pl.concat([chunks, part], rechunk=False)
repeat(lambda: chunks.rechunk().to_numpy(), 16 << 20)
