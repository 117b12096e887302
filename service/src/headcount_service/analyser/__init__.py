"""The analyser: announces collections, opens mixed batches, charges budgets, releases answers."""
