"""What series of several sizes, temperatures and samples tell together."""
