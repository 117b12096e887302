"""Alembic runs this to carry out a role's migrations, on a connection that it is given."""

from alembic import context

connection = context.config.attributes["connection"]
context.configure(connection=connection, version_table="schema_version", render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
