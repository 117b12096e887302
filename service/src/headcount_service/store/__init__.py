"""Where the parties keep things: SQLite or PostgreSQL behind the same statements, migrations, encryption at rest."""
