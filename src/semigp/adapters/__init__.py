"""The library's estimators under the interfaces of others; each module needs the package it is named after."""
