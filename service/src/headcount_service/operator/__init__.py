"""The person who runs a collection: knows the parties, holds their tokens, agrees with them."""
