"""What can be compared: a folder with a contract (`base.py`) and one file for each task."""
