"""The person who runs a collection: knows its parties, holds a token of each, and agrees with them."""
