"""A question in each file: what is computed for it, the figure, and the answer in a paragraph."""
