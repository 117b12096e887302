"""The analyser: announces collections, opens mixed batches, charges the budget and releases answers."""
