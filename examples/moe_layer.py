#!/usr/bin/env python3
"""A mixture-of-experts layer in PyTorch, trained for some dozen steps: forward and backward through causeway.ep.Buffer.

Every rank (PE) has tokens of its own and holds some of the experts. The gate gives each token k experts and their
weights; `dispatch` sends the token to the ranks of those experts, the experts work there, and `combine` brings the
weighted sum back.

In every step the same layer is also computed without communication, from everybody's tokens and parameters, in float32.
Outputs and gradients must agree within BOUND. If they do not, or if the loss does not fall, the program ends with
status 1.

    causeway run -n 4 python3 moe_layer.py           # add --nodes 2: the ranks as two nodes
    torchrun --nproc-per-node 4 moe_layer.py
"""
import os
import sys

import torch
from torch.nn.functional import pad, silu

import causeway
from causeway.ep import Buffer

HIDDEN, INNER = 128, 64           # elements of a token; of the layer inside an expert
OWN_EXPERTS, TOPK = 4, 3          # experts of a rank; experts of a token
TOKENS_MAX, STEPS, RATE = 64, 40, 0.01
# Rows travel as bfloat16: a rounding changes a number by up to 2^-8 of it. On the way there and back, forward or
# backward, a number is rounded three times (before it goes; a rank's result; the sum), and once more where there are
# two hops.
BOUND = 4 * 2.0**-8               # deviation from the float32 reference, as a part of the greatest number of the tensor


# ---- the two operations, as PyTorch differentiates them

class Dispatch(torch.autograd.Function):
    """Rows and weights to the ranks of their experts.

    A token is copied to several ranks, so its gradient is the sum of its copies' gradients: just what combine computes.
    The gradient of a weight comes from the one rank that used it; the others give 0, and combine sums those, too.
    """

    @staticmethod
    def forward(ctx, buffer, x, topk_idx, topk_weights):
        recv_x, recv_idx, recv_weights, _, handle, _ = buffer.dispatch(x, topk_idx=topk_idx, topk_weights=topk_weights)
        ctx.buffer, ctx.handle = buffer, handle
        ctx.mark_non_differentiable(recv_idx)
        return recv_x, recv_idx, recv_weights, handle

    @staticmethod
    def backward(ctx, grad_x, _idx, grad_weights, _handle):
        x, weights, _ = ctx.buffer.combine(grad_x.contiguous(), ctx.handle, topk_weights=grad_weights.contiguous())
        return None, x, None, weights


class Combine(torch.autograd.Function):
    """For each of the caller's tokens the sum of the rows that its copies became.

    All those rows have the gradient of the sum. They need it where they are: it goes where the token went. The handle
    knows the routes, so nothing is counted again and the host does not wait.
    """

    @staticmethod
    def forward(ctx, buffer, rows, handle):
        ctx.buffer, ctx.handle = buffer, handle
        return buffer.combine(rows, handle)[0]

    @staticmethod
    def backward(ctx, grad_sums):
        return None, ctx.buffer.dispatch(grad_sums.contiguous(), handle=ctx.handle)[0], None


# ---- the layer

def gate(x, parameters):
    """The k best experts of each token, and their weights: softmax over those k."""
    best, topk_idx = (x @ parameters).topk(TOPK, dim=1)
    return topk_idx, best.softmax(dim=1)


def run_experts(rows, topk_idx, topk_weights, first, second):
    """For each row the weighted sum over those of its experts that are here; -1 in topk_idx is none."""
    out = torch.zeros_like(rows)
    for expert in range(
        len(first)
    ):  # (one without rows, too: else backward would not come by, and the others would wait for it)
        row, choice = (topk_idx == expert).nonzero(as_tuple=True)
        result = silu(rows[row] @ first[expert]) @ second[expert]
        out = out.index_add(0, row, result * topk_weights[row, choice].unsqueeze(1))
    return out


def moe_layer(buffer, x, gate_parameters, first, second):
    topk_idx, topk_weights = gate(x, gate_parameters)
    rows, own_idx, own_weights, handle = Dispatch.apply(buffer, x.to(torch.bfloat16), topk_idx, topk_weights)
    results = run_experts(rows.float(), own_idx, own_weights, first, second)  # the experts work in float32
    return Combine.apply(buffer, results.to(torch.bfloat16), handle).float()


def reference_layer(x, gate_parameters, first, second):
    """The same with all experts at hand."""
    return run_experts(x, *gate(x, gate_parameters), first, second)


# ---- what is to be learnt

class Task:
    """Tokens are scattered around one of some centres, and each centre has a linear map of its own to be learnt."""

    def __init__(self, ranks, device):
        self.ranks, self.device = ranks, device
        random = torch.Generator().manual_seed(1)
        self.centres = torch.randn(4, HIDDEN, generator=random)
        self.maps = torch.randn(4, HIDDEN, HIDDEN, generator=random) / HIDDEN**0.5

    @staticmethod
    def tokens(rank):
        """Ranks have different numbers of them."""
        return TOKENS_MAX - 5 * (rank % 8)

    def batch(self, rank, step):
        """Tokens of a rank and what they should become."""
        random = torch.Generator().manual_seed(1000 * step + rank + 7)
        kind = torch.randint(len(self.centres), (self.tokens(rank),), generator=random)
        x = self.centres[kind] + 0.3 * torch.randn(len(kind), HIDDEN, generator=random)
        wanted = torch.einsum("th,thi->ti", x, self.maps[kind])
        return x.to(self.device), wanted.to(self.device)

    def loss(self, out, wanted):
        """A rank's part of the mean over the tokens of all ranks."""
        return ((out - wanted) ** 2).sum() / (HIDDEN * sum(self.tokens(rank) for rank in range(self.ranks)))


def over_ranks(values, op="sum"):
    """Numbers of all ranks, added, or put one rank after the other ("gather"); by symmetric memory of this call."""
    ranks = causeway.n_pes() if op == "gather" else 1
    mine, all_of_them = causeway.empty(values.numel()), causeway.empty(values.numel() * ranks)
    mine.torch().copy_(values.detach().flatten())
    causeway.fcollect(all_of_them, mine) if op == "gather" else causeway.reduce(all_of_them, mine, op)
    result = all_of_them.torch().clone()
    mine.free(), all_of_them.free()
    return result.view(-1, *values.shape[1:]) if op == "gather" else result.view(values.shape)


def deviation(got, wanted):
    return float(((got - wanted).abs().max() / wanted.abs().max().clamp_min(1e-30)).detach())


def check(task, step, rank, layer, x, out):
    """The greatest deviation of this rank's output and gradients from the reference's, for the same parameters and the
    same gradient of the output."""
    whole = [layer[0].detach().clone(), over_ranks(layer[1], "gather"), over_ranks(layer[2], "gather")]
    mine = x.detach().clone()
    for part in (mine, *whole):
        part.requires_grad_()
    grads = over_ranks(pad(out.grad, (0, 0, 0, TOKENS_MAX - len(out))).unsqueeze(0), "gather")
    for source in range(task.ranks):  # rank by rank, as in the layer, so that the gate gives the same bits
        tokens = mine if source == rank else task.batch(source, step)[0]
        expected = reference_layer(tokens, *whole)
        expected.backward(grads[source, :len(tokens)])
        if source == rank:
            worst = deviation(out, expected)
    own = slice(rank * OWN_EXPERTS, (rank + 1) * OWN_EXPERTS)
    return max(worst, deviation(x.grad, mine.grad), deviation(layer[0].grad, whole[0].grad),
               deviation(layer[1].grad, whole[1].grad[own]), deviation(layer[2].grad, whole[2].grad[own]))


def main():
    group = None
    if (
        "RANK" in os.environ and "WORLD_SIZE" in os.environ
    ):  # started by torchrun: the buffer takes its ranks from the group
        torch.distributed.init_process_group("gloo")
        group = torch.distributed.group.WORLD
    causeway.init(group)
    rank, ranks = causeway.my_pe(), causeway.n_pes()
    device = "cpu" if causeway.machine == "cpu" else torch.device("cuda", torch.cuda.current_device())
    torch.set_num_threads(1)  # the ranks share the computer
    experts = ranks * OWN_EXPERTS
    # What it can hold is fixed when it is made. All tokens of all ranks could go to one rank.
    buffer = Buffer(group, hidden=HIDDEN, num_topk=TOPK, num_experts=experts, num_max_recv_tokens=ranks * TOKENS_MAX)

    task = Task(ranks, device)
    common, special = torch.Generator().manual_seed(2), torch.Generator().manual_seed(100 + rank)
    gate_parameters = (torch.randn(HIDDEN, experts, generator=common) / HIDDEN**0.5).to(device)  # the same on all ranks
    first = (torch.randn(OWN_EXPERTS, HIDDEN, INNER, generator=special) / HIDDEN**0.5).to(device)
    second = (torch.randn(OWN_EXPERTS, INNER, HIDDEN, generator=special) / INNER**0.5).to(device)
    layer = [part.requires_grad_() for part in (gate_parameters, first, second)]
    optimizer = torch.optim.Adam(layer, lr=RATE)

    losses, worst = [], 0.0
    for step in range(STEPS):
        x, wanted = task.batch(rank, step)
        x.requires_grad_()
        out = moe_layer(buffer, x, *layer)
        out.retain_grad()  # (for the check)
        loss = task.loss(out, wanted)
        optimizer.zero_grad()
        loss.backward()
        # Everybody has the gate, so its gradients are summed. An expert is at one rank: its gradient is whole already.
        gate_parameters.grad.copy_(over_ranks(gate_parameters.grad))
        worst = max(worst, check(task, step, rank, layer, x, out))
        optimizer.step()
        losses.append(float(over_ranks(loss.view(1))))
    worst = float(over_ranks(torch.tensor([worst], device=device), "max"))
    ok = worst <= BOUND and losses[-1] < 0.5 * losses[0]
    if rank == 0:
        print(f"{ranks} ranks, {experts} experts, {STEPS} steps: loss {losses[0]:.4f} -> {losses[-1]:.4f}")
        print(f"largest deviation from the reference: {worst:.5f} (accepted: {BOUND:.5f})")
        print("ok" if ok else "WRONG", flush=True)
    buffer.destroy()
    causeway.finalize()
    if group is not None:
        torch.distributed.destroy_process_group()
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
