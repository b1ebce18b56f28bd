"""Symmetric memory as PyTorch tensors, and a job that meets by torch.distributed. Run as:
    causeway run -n 2 python tests/python/torch_test.py
    torchrun --nproc-per-node 2 tests/python/torch_test.py [group]
"""
import sys

from common import main, raises, require

import causeway

try:
    import torch
except ImportError:
    print("torch_test: PyTorch is not installed; nothing tested")
    sys.exit(0)


def body() -> None:
    group = None
    if "group" in sys.argv:
        torch.distributed.init_process_group("gloo")
        group = torch.distributed.group.WORLD
    causeway.init(group)
    me, pes = causeway.my_pe(), causeway.n_pes()
    if group is not None:
        require((me, pes) == (group.rank(), group.size()), "PEs are the group's ranks")
    for dtype in (torch.bool, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32):
        tensor = causeway.zeros((2, 3), dtype)
        view = tensor.torch()
        require(view.dtype == dtype and tuple(view.shape) == (2, 3), f"a view of {dtype}: {view.dtype}")
        view.fill_(1)
        require(bool((tensor.torch() == view).all()), "two views of the same memory")
        causeway.barrier()
        right = (me + 1) % pes
        causeway.put(view[1:], torch.zeros(1, 3, dtype=dtype, device=view.device), right)
        causeway.barrier()
        require(bool((view[0] == 1).all()) and bool((view[1] == 0).all()), f"put into a part of a view of {dtype}")
        require(bool((tensor.peer(right).torch() == view).all()), "a peer's memory")
        causeway.barrier()
        if dtype == torch.int64:
            word = causeway.zeros(1, torch.int64)
            causeway.put_signal(view[0], view[1], word.torch(), 3, right)
            causeway.signal_wait(word.torch(), 3)
            require(bool((view[0] == 0).all()), "data with a signal")
            causeway.barrier()
            word.free()
        del view
        tensor.free()
    source, total = causeway.zeros(8), causeway.zeros(8)
    source.torch().fill_(me + 1)
    causeway.reduce(total, source)
    require(bool((total.torch() == pes * (pes + 1) / 2).all()), "a sum")
    raises(ValueError, "not contiguous", lambda: causeway.reduce(total.torch()[::2], source.torch()[::2]))
    source.free(), total.free()
    causeway.finalize()
    print(f"torch, PE {me} of {pes}: ok", flush=True)
    if group is not None:
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(body)
