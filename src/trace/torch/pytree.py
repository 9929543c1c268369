# SPDX-License-Identifier: Apache-2.0
"""torch.utils._pytree: values that lie in lists, tuples and dicts."""
import collections

_registered = {}


class TreeSpec:
    def __init__(self, type, context, children_specs):
        self.type, self.context, self.children_specs = type, context, list(children_specs)
        self.num_children = len(self.children_specs)
        self.num_leaves = sum([child.num_leaves for child in self.children_specs])
        self.num_nodes = 1 + sum([child.num_nodes for child in self.children_specs])

    def is_leaf(self):
        return False

    def __eq__(self, other):
        return isinstance(other, TreeSpec) and self.type is other.type and self.context == other.context and self.children_specs == other.children_specs

    def __repr__(self):
        return f"TreeSpec({self.type.__name__}, {self.context}, [{', '.join([repr(child) for child in self.children_specs])}])"

    def unflatten(self, leaves):
        return tree_unflatten(leaves, self)


class LeafSpec(TreeSpec):
    def __init__(self):
        super().__init__(None, None, [])
        self.num_leaves = 1

    def is_leaf(self):
        return True

    def __repr__(self):
        return "*"


def register_pytree_node(cls, flatten_fn, unflatten_fn, *, serialized_type_name=None, to_dumpable_context=None, from_dumpable_context=None, flatten_with_keys_fn=None):
    if cls in _registered:
        raise ValueError(f"{cls} is already registered as pytree node. Overwriting the previous registration.")
    _registered[cls] = (flatten_fn, unflatten_fn)


_register_pytree_node = register_pytree_node


def _parts(tree, is_leaf):
    """Its class, what else makes it, and what lies in it; None for a leaf."""
    if is_leaf is not None and is_leaf(tree):
        return None
    kind = type(tree)
    if kind in _registered:
        children, context = _registered[kind][0](tree)
        return kind, context, list(children)
    if kind is list or kind is tuple:
        return kind, None, list(tree)
    if kind is dict or kind is collections.OrderedDict:
        return kind, list(tree.keys()), list(tree.values())
    if kind is collections.defaultdict:
        return kind, [tree.default_factory, list(tree.keys())], list(tree.values())
    if kind is collections.deque:
        return kind, tree.maxlen, list(tree)
    if isinstance(tree, tuple) and hasattr(kind, "_fields"):
        return collections.namedtuple, kind, list(tree)
    return None


def _made(spec, children):
    kind = spec.type
    if kind in _registered:
        return _registered[kind][1](children, spec.context)
    if kind is list:
        return list(children)
    if kind is tuple:
        return tuple(children)
    if kind is collections.namedtuple:
        return spec.context(*children)
    if kind is collections.deque:
        return collections.deque(children, maxlen=spec.context)
    if kind is collections.defaultdict:
        made = collections.defaultdict(spec.context[0])
        for key, child in zip(spec.context[1], children):
            made[key] = child
        return made
    return kind(zip(spec.context, children))


def _flatten(tree, leaves, is_leaf):
    parts = _parts(tree, is_leaf)
    if parts is None:
        leaves.append(tree)
        return LeafSpec()
    return TreeSpec(parts[0], parts[1], [_flatten(child, leaves, is_leaf) for child in parts[2]])


def tree_flatten(tree, is_leaf=None):
    leaves = []
    spec = _flatten(tree, leaves, is_leaf)
    return leaves, spec


def tree_unflatten(leaves, treespec):
    leaves = list(leaves)
    if len(leaves) != treespec.num_leaves:
        raise ValueError(f"tree_unflatten(leaves, treespec): `leaves` has length {len(leaves)} but the spec refers to a pytree that holds {treespec.num_leaves} items ({treespec}).")
    return _unflattened(iter(leaves), treespec)


def _unflattened(leaves, spec):
    if spec.is_leaf():
        return next(leaves)
    return _made(spec, [_unflattened(leaves, child) for child in spec.children_specs])


def tree_leaves(tree, is_leaf=None):
    return tree_flatten(tree, is_leaf)[0]


tree_iter = tree_leaves


def tree_structure(tree, is_leaf=None):
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func, tree, *rests, is_leaf=None):
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [tree_flatten(rest, is_leaf)[0] for rest in rests]
    for rest in others:
        if len(rest) != len(leaves):
            raise ValueError("the trees that tree_map is given differ in structure")
    return tree_unflatten([func(*args) for args in zip(leaves, *others)], spec)


def tree_map_(func, tree, *rests, is_leaf=None):
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def tree_map_only(type_or_types, func, tree, is_leaf=None):
    return tree_map(lambda x: func(x) if isinstance(x, type_or_types) else x, tree, is_leaf=is_leaf)


def tree_all(pred, tree, is_leaf=None):
    return all([pred(leaf) for leaf in tree_leaves(tree, is_leaf)])


def tree_any(pred, tree, is_leaf=None):
    return any([pred(leaf) for leaf in tree_leaves(tree, is_leaf)])
