#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python of ours that the build embeds: it parses, and every name that a file reads is one that it
defines, imports or has from Python or from the C++ that fills the module; no import is left over. Files that become one
module are read together: none of them rebinds a function or class of another.

    check_python.py
"""
import ast
import builtins
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent / "src"
TOGETHER = [["composites.py", "shapes.py", "losses.py", "function_names.py", "foreach.py"], ["hooks.py", "module_names.py", "nn.py", "nn_basic.py", "nn_convolutions.py", "nn_containers.py", "nn_tuples.py", "nn_activations.py", "nn_pools.py", "nn_losses.py", "nn_layers.py", "nn_recurrent.py", "nn_transformer.py"],
            ["derivatives.py", "derivatives_moves.py"], ["linalg.py", "linalg_products.py"], ["optim.py", "optim_more.py"], ["argparse.py", "argparse_actions.py", "argparse_parser.py"], ["unittest.py", "unittest_functions.py", "unittest_runs.py"],
            ["standard_library.py", "standard_library_random.py"], ["numpy.py", "numpy_arrays.py", "numpy_functions.py", "numpy_random.py", "numpy_files.py"],
            ["distributions.py", "distributions_more.py", "distribution_transforms.py", "distribution_ratios.py", "distribution_kl.py", "distribution_supports.py"],
            [path.name for path in sorted((ROOT / "trace/torch").glob("aten*.py"))]]
GIVEN = {  # by the C++ that fills the module
    "init.py": {"_truncated_normal", "_orthogonal"},
    "random.py": {"default_generator", "_new_stream", "_default_stream", "_seed", "_seed_devices", "_initial_seed", "_offset", "_mark", "_are_same", "_return_to", "_save", "_restore"},
    "inspect.py": {"_parameters", "_source"},
    "re.py": {"_compile", "_describe", "_scan"},
    "control.py": {"_record_control", "_values_are_known"},
    "linalg.py": {"_factors"},
    "nn.py": {"Parameter", "_named_modules", "_lay_in_place", "_named_tensors", "_conversion", "_convert_in_place", "_move_in_place"},
    "module_names.py": {"Parameter"},
    "nn_basic.py": {"Parameter", "_default_weight", "_default_bias", "_normal", "_ones", "_zeros"},
    "nn_containers.py": {"Parameter"},
    "nn_convolutions.py": {"Parameter"},
    "nn_losses.py": {"Parameter", "_xavier_normal", "_xavier_uniform", "_zeros"},
    **{name: {"Parameter", "_bounded", "_normal", "_xavier_uniform"} for name in ("nn_layers.py", "nn_recurrent.py", "nn_transformer.py")},
    "hooks.py": {"Parameter"},
    "composites.py": {"_is_known", "_is_proved"},
    "shapes.py": {"_is_proved"},
    "aten_resampling.py": {"_is_proved", "_is_known"},
    "aten_values.py": {"_read_size", "_check_sizes", "_is_known", "_is_proved", "_remember", "_remembered"},
    "aten_pools.py": {"_is_known", "_is_proved"},
    **{name: {"_is_known"} for name in ("aten_images.py", "aten_norms.py", "aten_numbers.py", "aten_recurrent.py")},
    "aten_groups.py": {"_is_proved"},
    "aten_complex.py": {"_is_proved"},
    "aten_matrices.py": {"_is_proved"},
    "aten_shapes.py": {"_is_proved"},
    "aten_spectra.py": {"_is_known"},
    "eager.py": {"_print_options"},
    "training.py": {"_first_value"},
    "optim.py": {"_flush"},
    "amp.py": {"_autocast_state", "_set_autocast"},
    "dispatch.py": {"_push", "_pop", "_push_function", "_pop_function"},
    "flops.py": {"_register_for_operator", "_formula_of"},
    "operators.py": {"_vmap_rule_of", "_is_operator", "_is_users", "_fake_of", "_share_memory", "_refusal_of"},
    "importlib_util.py": {"known", "import_module"},
}


def names_of(tree):
    """All names that any scope of the file binds, and all that it reads, with the line of the first reading."""
    bound, read = set(), {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.alias):
            bound.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.ExceptHandler) and node.name:
            bound.add(node.name)
        elif isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                read.setdefault(node.id, node.lineno)
            else:
                bound.add(node.id)
    return bound, read


def imports_of(tree):
    for node in tree.body:
        # What C++ gives a module of Python's is imported to be its attribute.
        if isinstance(node, ast.ImportFrom) and node.module == "_script":
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                yield (alias.asname or alias.name).split(".")[0], node.lineno


def rebound(trees):
    """Functions and classes of a module that its files bind again: which one a caller gets is the files' order."""
    owner = {node.name: path for path, tree in trees.items() for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    for path, tree in trees.items():
        for top in tree.body:
            inner = () if isinstance(top, (ast.FunctionDef, ast.ClassDef)) else ast.walk(top)
            stored = [node.id for node in inner if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
            for name in [top.name] if isinstance(top, (ast.FunctionDef, ast.ClassDef)) else stored:
                if owner.get(name, path) != path:
                    yield path, top.lineno, f"'{name}' is bound in {owner[name].name} too"


def problems_of(paths):
    trees = {path: ast.parse(path.read_text(), str(path)) for path in paths}
    names = {path: names_of(tree) for path, tree in trees.items()}
    known = set(dir(builtins)).union(*(bound for bound, _ in names.values()))
    used = set().union(*(read for _, read in names.values()))
    yield from rebound(trees)
    for path, tree in trees.items():
        for name, line in names[path][1].items():
            if name not in known | GIVEN.get(path.name, set()):
                yield path, line, f"nothing defines '{name}'"
        for name, line in imports_of(tree):
            if name not in used:
                yield path, line, f"'{name}' is imported and not used"


def main():
    groups = {}
    for path in sorted(ROOT.rglob("*.py")):
        group = next((i for i, together in enumerate(TOGETHER) if path.name in together), path)
        groups.setdefault(group, []).append(path)
    found = [problem for paths in groups.values() for problem in problems_of(paths)]
    for path, line, text in found:
        print(f"{path.relative_to(ROOT.parent)}:{line}: {text}")
    print(f"{sum(map(len, groups.values()))} files, {len(found)} problems")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
