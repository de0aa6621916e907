"""Small Keras networks of every kind that can be read. Needs keras with the torch backend."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np

L = keras.layers
NETWORKS: dict[str, Any] = {
    "plain": lambda: [L.Dense(16, activation="relu"), L.Dense(3)],
    "one output": lambda: [L.Dense(16, activation="relu"), L.Dense(8, activation="leaky_relu"), L.Dense(1)],
    "all layers": lambda: [
        L.Normalization(mean=[1.0, 2.0, 3.0, 4.0], variance=[1.0, 2.0, 3.0, 4.0]), L.Dense(12, use_bias=False),
        L.BatchNormalization(), L.LeakyReLU(negative_slope=0.1), L.Dropout(0.3), L.Flatten(), L.Dense(9), L.PReLU(),
        keras.Sequential([L.Dense(6), L.ReLU()]), L.Dense(3),
    ],
    "linear": lambda: [L.Dense(2)],
}  # fmt: skip


def made(layers: list[Any], width: int = 4, seed: int = 0) -> Any:
    keras.utils.set_random_seed(seed)
    model = keras.Sequential([keras.Input((width,)), *layers])
    rng = np.random.default_rng(0)
    for layer in model.layers:
        if isinstance(layer, L.BatchNormalization):
            n = layer.moving_mean.shape[0]
            layer.set_weights([rng.normal(size=n), rng.normal(size=n), rng.normal(size=n), rng.uniform(0.1, 2, n)])
    return model
