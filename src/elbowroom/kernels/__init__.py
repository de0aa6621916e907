"""Compiled loops: how they are made (`kernel`, `lean`), what they are handed (`bundle`), what they share (`tools`) and
how they are made ready before a clock starts (`warm`). The loops themselves are in the modules of their mathematics."""
