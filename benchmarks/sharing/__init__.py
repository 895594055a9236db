"""What tasks gain by sharing probability tables."""
