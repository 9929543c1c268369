#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No function of the embedded Python takes a parameter and ignores it: its body reads the parameter, or only raises, or
unread_parameters.txt says why it changes nothing.

    check_parameters.py        prints what is unread and not listed, and lines of the list that fit nothing
"""
import ast
import fnmatch
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent / "src"
LIST = pathlib.Path(__file__).with_name("unread_parameters.txt")


def parameters_of(function):
    a = function.args
    every = a.posonlyargs + a.args + a.kwonlyargs + [one for one in (a.vararg, a.kwarg) if one]
    return [one.arg for one in every if one.arg not in ("self", "cls")]


def only_raises(function):
    body = [one for one in function.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]
    return len(body) == 1 and isinstance(body[0], ast.Raise)


def is_protocol(name):
    """What Python calls, with arguments that it chooses."""
    return name.startswith("__") and name.endswith("__") and name not in ("__init__", "__new__", "__call__")


def unread(tree, prefix=""):
    """Each function's qualified name and line, with a parameter that its body does not read."""
    for node in ast.iter_child_nodes(tree):
        inside = prefix
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            inside = prefix + node.name + "."
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not only_raises(node) and not is_protocol(node.name):
            read = {one.id for part in node.body for one in ast.walk(part) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}
            for name in parameters_of(node):
                if name not in read:
                    yield prefix + node.name, node.lineno, name
        yield from unread(node, inside)


def main():
    allowed = [line.split(None, 1) for line in LIST.read_text().splitlines() if line and line[0] != "#"]
    problems = [f"{LIST.name}: '{entry[0]}' has no reason" for entry in allowed if len(entry) < 2]
    used, count = set(), 0
    for path in sorted(ROOT.rglob("*.py")):
        for function, line, name in unread(ast.parse(path.read_text(), str(path))):
            count += 1
            key = f"{path.relative_to(ROOT)}:{function}:{name}"
            fitting = [entry[0] for entry in allowed if fnmatch.fnmatchcase(key, entry[0])]
            used.update(fitting)
            if not fitting:
                problems.append(f"src/{path.relative_to(ROOT)}:{line}: '{function}' takes '{name}' and ignores it")
    problems += [f"{LIST.name}: '{entry[0]}' fits no parameter" for entry in allowed if entry[0] not in used]
    print("\n".join(problems + [f"{count} parameters that are not read, {len(problems)} problems"]))
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
