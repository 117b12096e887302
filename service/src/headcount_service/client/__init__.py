"""One person's device: its limits, what it sends, and the receipt that it keeps."""
