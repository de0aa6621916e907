"""Model in: a foreign, fitted object becomes plain arrays, and the copy is replayed against the original."""

from elbowroom.importers.original import Original
from elbowroom.importers.reading import ReadModel, open_model, read_model
from elbowroom.importers.replay import ReplayReport, replay
from elbowroom.importers.table import categorical_of, columns_of, supported_models

__all__ = [
    "Original",
    "ReadModel",
    "ReplayReport",
    "categorical_of",
    "columns_of",
    "open_model",
    "read_model",
    "replay",
    "supported_models",
]
