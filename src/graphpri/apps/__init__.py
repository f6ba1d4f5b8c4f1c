"""What the principle is used for: multi-task regression, points."""
