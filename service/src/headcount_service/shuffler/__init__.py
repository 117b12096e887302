"""The shuffler: takes sealed reports, drops duplicates, mixes a batch and delivers it. It cannot read what it mixes.

Begin with `shuffler` for uploads, `batches` for what becomes of a batch.
"""
