"""The parties' storage: SQLite or PostgreSQL by the same SQL, migrations, encryption at rest."""
