"""Runs the migrations over the connection that `feltro migrate` passes in."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], target_metadata=None, transactional_ddl=True)
with context.begin_transaction():
    context.run_migrations()
