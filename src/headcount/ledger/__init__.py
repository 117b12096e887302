"""What has been spent on one crowd: in memory, or in a file that outlives the process.

Begin with `ledger`; `spending` decides what is accepted, `prices` what a question costs, `journal`
writes the file.
Internal: docs/api.md lists what is public.
"""
