"""Our estimators with the interfaces of other packages. Each module needs the package it is named after."""
