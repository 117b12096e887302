"""What one person sends and what is kept of it: bricks, draws, coins, exact chances, tallies, releases.

Begin with `brick`. Imports common and questions; knows no protocol.
"""
