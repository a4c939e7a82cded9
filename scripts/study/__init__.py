"""Studies of how to search, over recorded logs: nothing here runs when the machine is tuned."""
