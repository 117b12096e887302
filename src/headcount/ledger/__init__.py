"""What has been spent on one crowd: in memory, or in a file that outlives the process.

Internal: docs/api.md lists what is public.
"""
