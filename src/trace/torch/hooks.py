# SPDX-License-Identifier: Apache-2.0
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
    """What runs before and after a module's forward(). Gradients and state dicts are not computed here, so that
    their hooks are never called."""

    def _add_hook(self, kind, hook, first):
        if "_hooks" not in vars(self):
            self._hooks = {"before": [], "after": []}
        hooks = self._hooks[kind]
        hooks.insert(0 if first else len(hooks), hook)
        return RemovableHandle(hooks, hook)

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        return self._add_hook("before", (hook, with_kwargs), prepend)

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
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
        result = self.forward(*args, **kwargs)
        for hook, with_kwargs in list(self._hooks["after"]):
            changed = hook(self, args, kwargs, result) if with_kwargs else hook(self, args, result)
            if changed is not None:
                result = changed
        return result

    def _unused_hook(self, hook, *args, **kwargs):
        unused = []
        unused.append(hook)
        return RemovableHandle(unused, hook)

    register_full_backward_hook = _unused_hook
    register_full_backward_pre_hook = _unused_hook
    register_backward_hook = _unused_hook
    register_state_dict_pre_hook = _unused_hook
    register_state_dict_post_hook = _unused_hook
    register_load_state_dict_pre_hook = _unused_hook
    register_load_state_dict_post_hook = _unused_hook
    _register_state_dict_hook = _unused_hook
    _register_load_state_dict_pre_hook = _unused_hook


