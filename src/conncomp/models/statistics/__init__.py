"""Statistics of series: means with errors, autocorrelation times, and what speaks against both."""
