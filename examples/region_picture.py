"""The picture of the README: the demonstration's region. Run: python examples/region_picture.py docs/images/region.png"""

import sys
from pathlib import Path

import matplotlib

from elbowroom import Explainer
from elbowroom.present.demo import german_story

matplotlib.use("Agg")
story = german_story()
region = Explainer(story.model, story.space).explain(story.row, room=story.room)
path = Path(sys.argv[1] if len(sys.argv) > 1 else "region.png")
path.parent.mkdir(parents=True, exist_ok=True)
region.plot().figure.savefig(path, dpi=150)
print(region.sentence())
print(f"written: {path}")
