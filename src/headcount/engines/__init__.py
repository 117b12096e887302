"""Where the data lie: memory, files through DuckDB, Spark. An engine makes codes of rows and tallies of codes.

Internal: docs/api.md lists what is public.
"""
