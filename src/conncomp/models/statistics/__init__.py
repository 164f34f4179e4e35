"""What series tell: means with errors, autocorrelation times, and what speaks against both."""
