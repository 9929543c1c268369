# SPDX-License-Identifier: Apache-2.0
# torch.distributed of a program that runs by itself: no process group is there, which libraries ask before they use one.


def is_available():
    return True


def is_initialized():
    return False


def is_torchelastic_launched():
    return False


def is_nccl_available():
    return False


def is_gloo_available():
    return False


def is_mpi_available():
    return False


def init_process_group(*args, **kwargs):
    raise NotImplementedError("torch.distributed.init_process_group: a script runs in one process")


def _absent(name):
    def function(*args, **kwargs):
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")

    function.__name__ = name
    return function


get_rank = _absent("get_rank")
get_world_size = _absent("get_world_size")
get_backend = _absent("get_backend")
new_group = _absent("new_group")
barrier = _absent("barrier")
broadcast = _absent("broadcast")
all_reduce = _absent("all_reduce")
reduce = _absent("reduce")
all_gather = _absent("all_gather")
all_gather_into_tensor = _absent("all_gather_into_tensor")
gather = _absent("gather")
scatter = _absent("scatter")
reduce_scatter = _absent("reduce_scatter")
reduce_scatter_tensor = _absent("reduce_scatter_tensor")
all_to_all = _absent("all_to_all")
all_to_all_single = _absent("all_to_all_single")
send = _absent("send")
recv = _absent("recv")
isend = _absent("isend")
irecv = _absent("irecv")
destroy_process_group = _absent("destroy_process_group")


class ProcessGroup:
    pass


class ReduceOp:
    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR = "SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR"


class group:
    WORLD = None
