"""Black-box attacks: experiments on a protocol that use nothing of its accounting.

`lower_bound` proves a lower bound on epsilon by distinguishing neighbouring crowds; `independence`
tests bits, messages, people and calls for dependence; `replay` runs the same coins on neighbouring
crowds and compares everything that must not change.
"""
