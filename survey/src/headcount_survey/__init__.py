"""The survey: what the notes and papers of the field say, recomputed with headcount.

Begin with `catalogue.py`, which lists the studies. A study is a question with what was computed to
answer it (`study.py`); a statement is a sentence of the notes or papers with the check that bears
it out (`statement.py`).

- `studies`: a question in each file
- `theorems`: a theorem in each file, checked wherever that can be done
- `notes`, `papers`: statements, a file or two for each source
- `pages`: the long tables in docs, each made by `python -m headcount_survey.pages.NAME`
- `figures`: what only the survey and the site draw
- `mutants`: sound protocols with one thing broken, and which conformance check notices
- `attacks`: experiments on any protocol, beside `hc.attack`
- `cli`: what `headcount study` and `headcount audit` do

The package imports headcount, and headcount never imports it: the command line finds it by its
entry point.
"""
