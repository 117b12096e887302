"""DuckDB's own aggregates over a file: no privacy, a limit."""

import duckdb

PACKAGES = ("duckdb",)

QUERIES = {
    "count": "select count(*) from '{}' where clicked = 1",
    "histogram": "select key, count(*) from '{}' group by key",
    "mean": "select avg(value) from '{}'",
}


def asked(job):
    query = QUERIES[job["task"]].format(job["data"])
    connection = duckdb.connect()
    return lambda: connection.execute(query).fetchall()


count = histogram = mean = asked
