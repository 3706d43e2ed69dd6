"""Torch weights → the files that the package carries: ONNX, tokenizer, config, model card figures.

Weights are stored small and computed in single precision: 16-bit floats or 8-bit integers with a scale per output
channel for the layers, 8-bit integers with a scale per row for the word embeddings. Whichever storage keeps at least
99 % of the dev verdicts and is smaller is chosen; the comparison is printed and written into the config.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

from litrag.local_model import LABELS, EntailmentModel
from training.calibrate import Calibration, fit_calibration
from training.loop import encode, predict_logits
from training.network import JudgeNetwork, base_path, open_tokenizer
from training.pairs import LABELS as TRAINED_LABELS
from training.pairs import Pair

MAX_TOKENS = 256
KEPT_VERDICTS = 0.99


def export(weights: Path, target: Path, dev: list[Pair]) -> None:
    """Write the judge model folder `target` from a checkpoint's weights, calibrated on `dev`."""
    assert TRAINED_LABELS == LABELS
    network = JudgeNetwork()
    network.load_state_dict(torch.load(weights, weights_only=True))
    logits = predict_logits(network, encode(dev, open_tokenizer(MAX_TOKENS)))
    calibration = fit_calibration(logits, dev)
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        plain = Path(scratch) / "fp32.onnx"
        to_onnx(network, plain)
        chosen = _smallest_faithful(plain, Path(scratch), logits, dev, calibration)
        for name in ("model.onnx", "tokenizer.json", "config.json"):
            shutil.copy(chosen / name, target / name)
    size = sum(path.stat().st_size for path in target.iterdir())
    print(f"{target}: {size / 1e6:.1f} MB in all")


def to_onnx(network: JudgeNetwork, path: Path) -> None:
    """Single-precision graph with free batch size and width."""
    network.eval()
    ids = torch.randint(1000, 2000, (2, 24))
    inputs = (ids, torch.ones_like(ids), torch.cat([torch.zeros(2, 8), torch.ones(2, 16)], dim=1).long())
    names = ["input_ids", "attention_mask", "token_type_ids"]
    axes = {name: {0: "rows", 1: "width"} for name in names} | {"logits": {0: "rows"}}
    torch.onnx.export(
        network,
        inputs,
        str(path),
        input_names=names,
        output_names=["logits"],
        dynamic_axes=axes,
        opset_version=17,
        dynamo=False,
    )


def _smallest_faithful(
    plain: Path, scratch: Path, logits: np.ndarray, dev: list[Pair], calibration: Calibration
) -> Path:
    reference = calibration.apply(logits).argmax(axis=1)
    pairs = [(pair.claim, pair.evidence) for pair in dev]
    storages: dict[str, Callable[[np.ndarray], list[np.ndarray]]] = {"int8": _to_int8, "float16": _to_float16}
    for name, storage in storages.items():
        folder = scratch / name
        folder.mkdir()
        compress(plain, folder / "model.onnx", storage)
        shutil.copy(base_path() / "tokenizer.json", folder / "tokenizer.json")
        _write_config(folder, calibration, name)
        kept = float((EntailmentModel.open(folder).predict(pairs).argmax(axis=1) == reference).mean())
        size = (folder / "model.onnx").stat().st_size / 1e6
        print(f"{name}: {size:.1f} MB, keeps {kept:.2%} of {len(dev)} dev verdicts")
        if kept >= KEPT_VERDICTS:
            return folder
    raise SystemExit(f"No storage keeps {KEPT_VERDICTS:.0%} of the dev verdicts; export nothing.")


def _write_config(folder: Path, calibration: Calibration, storage: str) -> None:
    checksums = {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in ("model.onnx", "tokenizer.json")
    }
    config = {
        "version": "",
        "labels": list(LABELS),
        "max_tokens": MAX_TOKENS,
        "storage": storage,
        "temperature": round(calibration.temperature, 4),
        "bias": [round(value, 4) for value in calibration.bias],
        "sha256": checksums,
    }
    # The version covers weights and calibration: whatever can change a verdict.
    config["version"] = hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()[:12]
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")


def compress(source: Path, target: Path, storage: Callable[[np.ndarray], list[np.ndarray]]) -> None:
    """Rewrite large weights as small constants followed by the nodes that restore them."""
    model = onnx.load(str(source))
    graph = model.graph
    embeddings = {node.input[0] for node in graph.node if node.op_type == "Gather"}
    kept, added = [], []
    for tensor in graph.initializer:
        value = numpy_helper.to_array(tensor)
        if value.dtype != np.float32 or value.ndim != 2 or value.size < 50_000:
            kept.append(tensor)
        elif tensor.name in embeddings:
            _replace_gather(graph, tensor.name, value, kept)
        else:
            added.extend(_restored(tensor.name, storage(value), kept))
    del graph.initializer[:]
    graph.initializer.extend(kept)
    nodes = list(graph.node)
    del graph.node[:]
    graph.node.extend([*added, *nodes])
    onnx.checker.check_model(model)
    onnx.save(model, str(target))


def _to_float16(value: np.ndarray) -> list[np.ndarray]:
    return [value.astype(np.float16)]


def _to_int8(value: np.ndarray) -> list[np.ndarray]:
    """Matrices stand as (inputs, outputs): one scale per output column."""
    scale = np.abs(value).max(axis=0, keepdims=True) / 127.0 + 1e-12
    return [np.round(value / scale).astype(np.int8), scale.astype(np.float32)]


def _restored(name: str, stored: list[np.ndarray], kept: list[TensorProto]) -> list[onnx.NodeProto]:
    kept.append(numpy_helper.from_array(stored[0], f"{name}.stored"))
    if len(stored) == 1:
        return [helper.make_node("Cast", [f"{name}.stored"], [name], to=TensorProto.FLOAT)]
    kept.append(numpy_helper.from_array(stored[1], f"{name}.scale"))
    return [
        helper.make_node("Cast", [f"{name}.stored"], [f"{name}.float"], to=TensorProto.FLOAT),
        helper.make_node("Mul", [f"{name}.float", f"{name}.scale"], [name]),
    ]


def _replace_gather(graph: onnx.GraphProto, name: str, value: np.ndarray, kept: list[TensorProto]) -> None:
    """Look up 8-bit rows and their scales, and restore only what was looked up."""
    scale = np.abs(value).max(axis=1, keepdims=True) / 127.0 + 1e-12
    kept.append(numpy_helper.from_array(np.round(value / scale).astype(np.int8), f"{name}.stored"))
    kept.append(numpy_helper.from_array(scale.astype(np.float32), f"{name}.scale"))
    for place, node in enumerate(graph.node):
        if node.op_type == "Gather" and node.input[0] == name:
            index, output = node.input[1], node.output[0]
            graph.node.remove(node)
            for offset, new in enumerate(
                (
                    helper.make_node("Gather", [f"{name}.stored", index], [f"{output}.stored"], axis=0),
                    helper.make_node("Gather", [f"{name}.scale", index], [f"{output}.scale"], axis=0),
                    helper.make_node("Cast", [f"{output}.stored"], [f"{output}.float"], to=TensorProto.FLOAT),
                    helper.make_node("Mul", [f"{output}.float", f"{output}.scale"], [output]),
                )
            ):
                graph.node.insert(place + offset, new)
            return
