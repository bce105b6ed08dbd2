"""Stacked GPs: hidden layers that bend the inputs of an exact GP."""
