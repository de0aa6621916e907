"""Small torch modules of every kind that can be read, with numbers of all sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
nn = torch.nn
F = torch.nn.functional


class Custom(nn.Module):  # type: ignore[misc, name-defined]
    """A forward of its own: a list of layers, dropout by function, a squeezed output."""

    def __init__(self) -> None:
        super().__init__()
        self.last = nn.Linear(20, 1)  # declared first on purpose
        self.first = nn.Linear(6, 20)
        self.middle = nn.ModuleList([nn.Linear(20, 20) for _ in range(2)])
        self.norm = nn.BatchNorm1d(20)

    def forward(self, x: Any) -> Any:
        x = F.leaky_relu(self.norm(self.first(torch.flatten(x, 1))), 0.2)
        for layer in self.middle:
            x = F.relu(layer(F.dropout(x, 0.3, self.training)))
        return self.last(x).squeeze(1)


def shared_relu() -> Any:
    """One ReLU object used twice."""
    relu = nn.ReLU()
    return nn.Sequential(nn.Linear(5, 9), relu, nn.Linear(9, 9), relu, nn.Linear(9, 4))


NETWORKS: dict[str, Callable[[], Any]] = {
    "10-50-2": lambda: nn.Sequential(nn.Linear(10, 50), nn.ReLU(), nn.Linear(50, 2)),
    "50-100-100-1": lambda: nn.Sequential(
        nn.Linear(50, 100), nn.ReLU(), nn.Sequential(nn.Linear(100, 100), nn.ReLU()), nn.Linear(100, 1)
    ),
    "batch norm, leaky": lambda: nn.Sequential(
        nn.BatchNorm1d(6), nn.Linear(6, 12), nn.LeakyReLU(0.1), nn.Dropout(), nn.Linear(12, 5, bias=False), nn.PReLU(5),
        nn.BatchNorm1d(5, affine=False), nn.Linear(5, 3),
    ),
    "no bias, identity": lambda: nn.Sequential(
        nn.Flatten(), nn.Identity(), nn.Linear(4, 8, bias=False), nn.ReLU(), nn.Linear(8, 3)
    ),
    "ends in a relu": lambda: nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3), nn.ReLU()),
    "begins with a relu": lambda: nn.Sequential(nn.ReLU(), nn.Linear(4, 3)),
    "shared relu": shared_relu,
    "linear": lambda: nn.Linear(7, 3),
    "two linear layers": lambda: nn.Sequential(nn.Linear(7, 30), nn.Linear(30, 1)),
    "custom": Custom,
}  # fmt: skip


def made(kind: str | Callable[[], Any], double: bool = False, seed: int = 0) -> Any:
    """A module in evaluation mode whose batch norms have statistics."""
    torch.manual_seed(seed)
    model = (NETWORKS[kind] if isinstance(kind, str) else kind)()
    for module in model.modules():
        if isinstance(module, nn.BatchNorm1d):
            module.running_mean.normal_()
            module.running_var.uniform_(0.1, 3.0)
            if module.affine:
                module.weight.data.normal_()
                module.bias.data.normal_()
    return (model.double() if double else model).eval()


def trained(model: Any, X: np.ndarray, y: np.ndarray, steps: int = 120) -> Any:
    """A few steps of training; labels are those of `torch_network.predict`."""
    torch.manual_seed(0)
    model.train()
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    rows, labels = torch.tensor(X, dtype=next(model.parameters()).dtype), torch.tensor(y)
    for _ in range(steps):
        optimizer.zero_grad()
        out = model(rows)
        if out.ndim == 1 or out.shape[1] == 1:
            loss = F.binary_cross_entropy_with_logits(out.reshape(-1), labels.to(out.dtype))
        else:
            loss = F.cross_entropy(out, labels)
        loss.backward()
        optimizer.step()
    return model.eval()
