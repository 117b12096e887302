"""What a protocol is: its declaration, its plan, the size of its reports, and how plans are written down and read back.

Begin with `protocol`.
"""
