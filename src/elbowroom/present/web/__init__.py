"""``elbowroom serve``: the same questions over HTTP, with a page. Work is done in processes, so that the page stays quick."""
