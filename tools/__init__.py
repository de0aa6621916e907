"""Tools of the project that are no part of the package: the environment, and the list of what the package stands on."""
