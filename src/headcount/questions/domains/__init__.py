"""What people hold: how a person's rows become one integer, their code.

A domain reads the columns of a table, or a single answer on a device. Begin with `domain.py`; each
kind of domain has a file of its own. Domains know nothing of protocols, budgets or engines.
"""
