# SPDX-License-Identifier: Apache-2.0
"""torch.utils.tensorboard: what scripts log is kept nowhere, which is said once."""

import sys


class SummaryWriter:
    _said = False

    def __init__(self, log_dir=None, comment="", purge_step=None, max_queue=10, flush_secs=120, filename_suffix=""):
        self.log_dir = log_dir or "runs"
        if not SummaryWriter._said:
            SummaryWriter._said = True
            print("torch.utils.tensorboard: pellucid exec writes no event files; what is logged is kept nowhere", file=sys.stderr)

    def _nothing(self, *args, **kwargs):
        pass

    add_scalar = add_scalars = add_histogram = add_text = add_graph = add_image = add_images = add_figure = add_hparams = add_embedding = _nothing
    flush = close = _nothing

    def get_logdir(self):
        return self.log_dir

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        pass
