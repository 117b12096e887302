"""Where the data lie: memory, files through DuckDB, Spark. An engine codes rows and tallies codes.

Internal: docs/api.md lists what is public.
"""
