"""Black-box attacks: experiments on a protocol that use nothing of its accounting.

`lower_bound` proves a lower bound on epsilon by distinguishing neighbouring crowds, by what
`observation` sees of them. `headcount audit`, of the survey, runs it together with others.
"""
