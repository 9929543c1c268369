# SPDX-License-Identifier: Apache-2.0
from collections import OrderedDict as _OrderedDict
from collections import namedtuple as _namedtuple


class RemovableHandle:
    def __init__(self, hooks, hook):
        self._hooks, self._hook = hooks, hook

    def remove(self):
        self._hooks.remove(self._hook)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.remove()


class _Hooked:
    """What runs before and after a module's forward() and its backward pass."""

    def _add_hook(self, kind, hook, first):
        if "_hooks" not in vars(self):
            self._hooks = {"before": [], "after": [], "before_backward": [], "after_backward": []}
        hooks = self._hooks[kind]
        hooks.insert(0 if first else len(hooks), hook)
        return RemovableHandle(hooks, hook)

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        return self._add_hook("before", (hook, with_kwargs), prepend)

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        if always_call:
            raise NotImplementedError("register_forward_hook(always_call=True), a hook that is called where forward raised, is not supported; catch the exception")
        return self._add_hook("after", (hook, with_kwargs), prepend)

    def _called(self, args, kwargs):
        for hook, with_kwargs in list(self._hooks["before"]):
            changed = hook(self, args, kwargs) if with_kwargs else hook(self, args)
            if changed is None:
                continue
            if with_kwargs:
                args, kwargs = changed
            else:
                args = changed if isinstance(changed, tuple) else (changed,)
        if self._hooks["before_backward"] or self._hooks["after_backward"]:
            result = torch._pellucid_autograd._with_backward_hooks(self, self._hooks, args, kwargs)
        else:
            result = self.forward(*args, **kwargs)
        for hook, with_kwargs in list(self._hooks["after"]):
            changed = hook(self, args, kwargs, result) if with_kwargs else hook(self, args, result)
            if changed is not None:
                result = changed
        return result

    def register_full_backward_hook(self, hook, prepend=False):
        return self._add_hook("after_backward", hook, prepend)

    def register_full_backward_pre_hook(self, hook, prepend=False):
        return self._add_hook("before_backward", hook, prepend)

    def register_backward_hook(self, hook):
        raise NotImplementedError("register_backward_hook is deprecated in PyTorch; register_full_backward_hook is supported")


class _IncompatibleKeys(_namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    def __repr__(self):
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


class _Saved:
    """state_dict() and load_state_dict()."""

    def _add_state_hook(self, kind, hook):
        if "_state_hooks" not in vars(self):
            self._state_hooks = {"save_before": [], "save_after": [], "load_before": [], "load_after": []}
        self._state_hooks[kind].append(hook)
        return RemovableHandle(self._state_hooks[kind], hook)

    def _state_hooks_of(self, kind):
        return list(self._state_hooks[kind]) if "_state_hooks" in vars(self) else []

    def register_state_dict_pre_hook(self, hook):
        return self._add_state_hook("save_before", hook)

    def register_state_dict_post_hook(self, hook):
        return self._add_state_hook("save_after", hook)

    def register_load_state_dict_pre_hook(self, hook):
        return self._add_state_hook("load_before", (hook, True))

    def _register_load_state_dict_pre_hook(self, hook, with_module=False):
        return self._add_state_hook("load_before", (hook, with_module))

    def register_load_state_dict_post_hook(self, hook):
        return self._add_state_hook("load_after", hook)

    _register_state_dict_hook = register_state_dict_post_hook

    def _saved_tensors(self, persistent_only=True):
        """Own parameters, then own buffers, by their names."""
        own = list(vars(self).items())
        found = [(name, value) for name, value in own if isinstance(value, Parameter)]
        for name, value in own:
            if isinstance(value, Parameter) or not _is_buffer(self, name, value):
                continue
            kept = value._buffer_persistent if hasattr(value, "_buffer_persistent") else self._registered_buffers[name]
            if kept or not persistent_only:
                found.append((name, value))
        return found

    def _held_modules(self):
        return [(name, value) for name, value in list(vars(self).items()) if isinstance(value, Module)]

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        for name, value in self._saved_tensors():
            destination[prefix + name] = value if keep_vars else value.detach()
        if hasattr(self, "get_extra_state"):
            destination[prefix + "_extra_state"] = self.get_extra_state()

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        if args:
            raise TypeError("state_dict() takes destination, prefix and keep_vars as keywords")
        if destination is None:
            destination = _OrderedDict()
        for hook in self._state_hooks_of("save_before"):
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._held_modules():
            module.state_dict(destination=destination, prefix=prefix + name + ".", keep_vars=keep_vars)
        for hook in self._state_hooks_of("save_after"):
            changed = hook(self, destination, prefix, {})
            if changed is not None:
                destination = changed
        return destination

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        for hook, with_module in self._state_hooks_of("load_before"):
            arguments = (state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
            hook(self, *arguments) if with_module else hook(*arguments)
        own = self._saved_tensors()
        optional = getattr(self, "_optional_keys", ())
        for name, value in own:
            key = prefix + name
            if key not in state_dict:
                if strict and name not in optional:
                    missing_keys.append(key)
                continue
            given = state_dict[key]
            if not isinstance(given, torch.Tensor):
                error_msgs.append(f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from checkpoint but received {type(given)}')
                continue
            if tuple(given.shape) == () and tuple(value.shape) == (1,):
                given = given.reshape(1)
            if tuple(given.shape) != tuple(value.shape):
                error_msgs.append(f"size mismatch for {key}: copying a param with shape torch.Size({list(given.shape)}) from checkpoint, "
                                  f"the shape in current model is torch.Size({list(value.shape)}).")
                continue
            if local_metadata.get("assign_to_params_buffers"):
                setattr(self, name, Parameter(given, requires_grad=value.requires_grad) if isinstance(value, Parameter) and not isinstance(given, Parameter) else given)
            else:
                with torch.no_grad():
                    value.copy_(given)
        extra = prefix + "_extra_state"
        if hasattr(self, "set_extra_state"):
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        if strict:
            names = [name for name, _ in own] + [name for name, _ in self._held_modules()] + (["_extra_state"] if hasattr(self, "set_extra_state") else [])
            for key in state_dict:
                if key.startswith(prefix) and key[len(prefix):].split(".")[0] not in names:
                    unexpected_keys.append(key)

    def load_state_dict(self, state_dict, strict=True, assign=False):
        if not isinstance(state_dict, dict):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing, unexpected, errors = [], [], []
        state_dict = _OrderedDict(state_dict)

        def load(module, part, prefix):
            module._load_from_state_dict(part, prefix, {"assign_to_params_buffers": assign}, True, missing, unexpected, errors)
            for name, child in module._held_modules():
                below = prefix + name + "."
                load(child, {key: value for key, value in part.items() if key.startswith(below)}, below)
            for hook in module._state_hooks_of("load_after"):
                hook(module, _IncompatibleKeys(missing, unexpected))

        load(self, state_dict, "")
        if strict:
            if unexpected:
                errors.insert(0, "Unexpected key(s) in state_dict: " + ", ".join([f'"{key}"' for key in unexpected]) + ". ")
            if missing:
                errors.insert(0, "Missing key(s) in state_dict: " + ", ".join([f'"{key}"' for key in missing]) + ". ")
        if errors:
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t" + "\n\t".join(errors))
        return _IncompatibleKeys(missing, unexpected)
