"""Which cells a code touches, and how answers are rebuilt from noisy cells. Begin with `strategy.py`; one file each."""
