"""The shipped ONNX weights → torch weights, so that training can go on from what the package carries."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper

from litrag.local_model import DEFAULT_PATH
from training.network import JudgeNetwork


def restore(folder: Path = DEFAULT_PATH) -> JudgeNetwork:
    """The network with the weights of a judge model folder; 8-bit storage costs at most half a step per weight."""
    model = onnx.load(str(folder / "model.onnx"))
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    matrices = _matrices(model, stored)
    network = JudgeNetwork()
    weights = {}
    for name, parameter in network.named_parameters():
        if name in stored:
            value = stored[name]
        elif f"{name}.stored" in stored:
            value = _single_precision(name, stored)
        else:
            # Layers' matrices lose their names on export but keep the order in which the network applies them.
            value = next(matrices).T
        if tuple(value.shape) != tuple(parameter.shape):
            raise SystemExit(f"{folder / 'model.onnx'} holds {value.shape} where {name} needs {parameter.shape}.")
        weights[name] = torch.from_numpy(np.ascontiguousarray(value, dtype=np.float32))
    network.load_state_dict(weights, strict=False)
    return network


def _matrices(model: onnx.ModelProto, stored: dict[str, np.ndarray]) -> Iterator[np.ndarray]:
    for node in model.graph.node:
        if node.op_type == "MatMul" and (node.input[1] in stored or f"{node.input[1]}.stored" in stored):
            yield _single_precision(node.input[1], stored)


def _single_precision(name: str, stored: dict[str, np.ndarray]) -> np.ndarray:
    if name in stored:
        return stored[name]
    value = stored[f"{name}.stored"].astype(np.float32)
    scale = stored.get(f"{name}.scale")
    return value if scale is None else value * scale

