# SPDX-License-Identifier: Apache-2.0
# triton.profiler.viewer: a profile's tree with the metrics that are asked for.
import json

_TIMES = {"time/s": 1e9, "time/ms": 1e6, "time/us": 1e3, "time/ns": 1.0}
_AVERAGES = {"avg_" + name: scale for name, scale in _TIMES.items()}
_RATES = {f"{prefix}flop{width}/s": (f"flops{width}", scale) for prefix, scale in (("", 1.0), ("g", 1e9), ("t", 1e12)) for width in ("", "8", "16", "32", "64")}
_RATES.update({f"{prefix}byte/s": ("bytes", scale) for prefix, scale in (("", 1.0), ("g", 1e9), ("t", 1e12))})


class _Tree:
    def __init__(self, node):
        self.name = node["frame"]["name"]
        self.children = [_Tree(child) for child in node["children"]]
        own = node["metrics"]
        self.own = own
        self.time = own.get("time (ns)", 0.0) + sum(child.time for child in self.children)
        self.count = own.get("count", 0) + sum(child.count for child in self.children)

    def total(self, metric):
        """Work that is said of a node stands for what is below it."""
        if metric in self.own:
            return self.own[metric]
        return sum(child.total(metric) for child in self.children)

    def value(self, metric, whole):
        if metric in _TIMES:
            return self.time / _TIMES[metric]
        if metric in _AVERAGES:
            return self.time / self.count / _AVERAGES[metric] if self.count else 0.0
        if metric in _RATES:
            work, scale = _RATES[metric]
            return self.total(work) / (self.time * 1e-9) / scale if self.time else 0.0
        if metric == "time/%":
            return 100 * self.time / whole if whole else 0.0
        return self.count if metric == "count" else self.total(metric)


def _known(node, metric):
    known = metric in _TIMES or metric in _AVERAGES or metric in _RATES or metric in ("time/%", "count")
    return known or metric in node.own or any(_known(child, metric) for child in node.children)


def read(filename):
    with open(filename) as file:
        return _Tree(json.load(file)[0])


def parse(metrics, filename, include=None, exclude=None, threshold=None):
    if include is not None or exclude is not None or threshold is not None:
        raise NotImplementedError("proton's viewer: parse() without include, exclude and threshold")
    metrics = [metrics] if isinstance(metrics, str) else list(metrics)
    tree = read(filename)
    for metric in metrics:
        if not _known(tree, metric):
            raise ValueError(f"Metric {metric} is not found. Use the --list flag to list available metrics")
    return tree, metrics


def _print(node, metrics, whole, first, rest, depth):
    values = " ".join(f"{node.value(metric, whole):.3f}" for metric in metrics)
    print(f"{first}{values} {node.name}")
    for child in node.children if depth > 0 else []:
        isLast = child is node.children[-1]
        _print(child, metrics, whole, rest + ("└─ " if isLast else "├─ "), rest + ("   " if isLast else "│  "), depth - 1)


def print_tree(tree, metrics, depth=100, format=None):
    if format not in (None, "full"):
        raise NotImplementedError(f"proton's viewer: print_tree(format={format!r})")
    _print(tree, metrics, tree.time, "", "", depth)
