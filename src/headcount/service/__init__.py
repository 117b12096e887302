"""Collecting for real: clients randomise and seal, a shuffler mixes what it cannot read, an analyser counts."""
