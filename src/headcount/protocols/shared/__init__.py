"""What several protocols have in common; a leaf derives from these and never from another leaf."""
