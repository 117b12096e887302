"""The shuffler: takes sealed reports it cannot read, drops duplicates, mixes and delivers batches.

Begin with `shuffler` for uploads, `batches` for what becomes of a batch.
"""
