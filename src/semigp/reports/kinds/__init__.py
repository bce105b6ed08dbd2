"""What a report can be about: a folder with a contract (`base.py`) and one file for each kind of model."""
