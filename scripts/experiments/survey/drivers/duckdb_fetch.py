"""DuckDB: the whole of a table as numpy arrays."""

import duckdb
from repeat import repeat

store = duckdb.connect()
store.execute("set threads = 1")
store.execute("create table t as select i as a, i * 7 as b from range(1 << 21) r(i)")
repeat(lambda: store.execute("select a, b from t").fetchnumpy()["b"].data, 32 << 20)
