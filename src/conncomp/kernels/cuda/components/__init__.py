"""What one does with labels."""
