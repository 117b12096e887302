"""Of the analyser."""
