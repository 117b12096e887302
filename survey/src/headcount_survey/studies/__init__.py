"""A question in each file: what is computed to answer it, the figure, and the answer in a paragraph."""
