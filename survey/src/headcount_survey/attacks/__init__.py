"""Black-box experiments beside `hc.attack`, which `headcount audit` runs on any protocol.

`independence` tests bits, messages, people and calls for dependence; `replay` runs the same coins
on neighbouring crowds and compares everything that must not change.
"""
