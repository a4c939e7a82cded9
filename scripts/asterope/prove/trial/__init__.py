"""The trial: copies take one of several ways at random inside the running program."""
