# SPDX-License-Identifier: Apache-2.0
"""Progress bars, which are not drawn: what is iterated over, and what a script prints through them."""


class tqdm:
    def __init__(self, iterable=None, desc=None, total=None, leave=True, file=None, ncols=None, mininterval=0.1, disable=False, unit="it", initial=0, position=None, postfix=None, **options):
        self.iterable, self.desc, self.n, self.disable = iterable, desc, initial, disable
        self.total = total
        if total is None and iterable is not None and hasattr(iterable, "__len__"):
            self.total = len(iterable)

    def __iter__(self):
        for one in self.iterable:
            yield one
            self.n += 1

    def __len__(self):
        return self.total if self.iterable is None else len(self.iterable)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return False

    def update(self, n=1):
        self.n += n

    def set_description(self, desc=None, refresh=True):
        self.desc = desc

    set_description_str = set_description

    def set_postfix(self, ordered_dict=None, refresh=True, **kwargs):
        pass

    def set_postfix_str(self, s="", refresh=True):
        pass

    def refresh(self, *args, **kwargs):
        pass

    def close(self):
        pass

    def reset(self, total=None):
        self.n, self.total = 0, self.total if total is None else total

    @staticmethod
    def write(s, file=None, end="\n", nolock=False):
        print(s, file=file, end=end)


def trange(*args, **kwargs):
    return tqdm(range(*args), **kwargs)
