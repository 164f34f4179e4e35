"""What all algorithms stand on."""
