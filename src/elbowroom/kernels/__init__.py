"""Compiled loops: how they are made (`kernel`, `lean`), kept on disk (`cache`, `folder`) or not compiled at all (`plain`),
what they are handed (`bundle`), what they share (`tools`), and how they are made ready before a clock starts (`warm`). The
loops themselves are in the modules of their mathematics."""
