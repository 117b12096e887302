"""Where a collection's parties keep things: SQLite in a file, or PostgreSQL, behind the same few statements."""
