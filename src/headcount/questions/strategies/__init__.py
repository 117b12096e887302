"""The cells that a code touches, and answers from noisy cells. Begin with `strategy.py`."""
