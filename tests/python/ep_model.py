"""A NumPy model of the mixture-of-experts buffer: random cases that every rank can compute for all ranks, and what must
come."""
from dataclasses import dataclass
from typing import List, Optional, Tuple

import numpy as np
from common import E4M3, from_bf16, same, require, to_bf16, to_e4m3

BLOCK = 128


@dataclass
class Case:
    """One case: the inputs of all ranks."""
    seed: int
    ranks: int
    node_ranks: int
    hidden: int
    topk: int
    experts: int
    tokens: List[int]
    x: List[np.ndarray]  # by rank: bfloat16 bits [tokens, hidden]
    topk_idx: List[np.ndarray]
    weights: List[np.ndarray]

    @property
    def own(self) -> int:
        return self.experts // self.ranks

    def describe(self) -> str:
        return (
            f"case {self.seed}: {self.ranks} ranks ({self.node_ranks} a node), hidden {self.hidden}, "
            f"top {self.topk} of {self.experts} experts, tokens {self.tokens}"
        )

    def goes(self, source: int) -> np.ndarray:
        """[tokens, ranks]: which ranks a token goes to."""
        idx = self.topk_idx[source]
        found = np.zeros((idx.shape[0], self.ranks), bool)
        for k in range(self.topk):
            there = idx[:, k] >= 0
            found[np.flatnonzero(there), idx[there, k] // self.own] = True
        return found

    def arrivals(self, rank: int) -> List[Tuple[int, int]]:
        """(source, token) of each row that a rank receives, in order: by the source's number in its node, then its
        node."""
        order = sorted(range(self.ranks), key=lambda source: (source % self.node_ranks, source // self.node_ranks))
        return [(source, int(token)) for source in order for token in np.flatnonzero(self.goes(source)[:, rank])]

    def received_idx(self, rank: int, rows: List[Tuple[int, int]]) -> np.ndarray:
        idx = np.array([self.topk_idx[s][t] for s, t in rows], np.int64).reshape(len(rows), self.topk)
        return np.where((idx >= 0) & (idx // self.own == rank), idx - rank * self.own, -1)

    def received_weights(self, rank: int, rows: List[Tuple[int, int]]) -> np.ndarray:
        weights = np.array([self.weights[s][t] for s, t in rows], np.float32).reshape(len(rows), self.topk)
        return np.where(self.received_idx(rank, rows) >= 0, weights, np.float32(0))


def random_case(seed: int, ranks: int) -> Case:
    rng = np.random.default_rng(seed)
    most_own = 256 // ranks
    experts = int(rng.integers(1, (most_own if rng.random() < 0.5 else min(most_own, 8)) + 1)) * ranks
    topk = int(rng.integers(1, min(10, experts) + 1))
    blocks = int(rng.integers(1, 5)) if rng.random() < 0.75 else 56 if rng.random() < 0.2 else int(rng.integers(5, 57))
    hidden = BLOCK * blocks
    most = int(rng.choice([4, 40, 300] if blocks < 5 else [4, 40]))  # (NumPy takes long for many long rows)
    kind = rng.choice(["random", "random", "one rank", "nothing", "sparse", "one source"])
    tokens = [int(rng.integers(0, most + 1)) for _ in range(ranks)]
    if kind == "nothing":
        tokens = [0] * ranks
    if kind == "one source":
        tokens = [count if rank == 0 else 0 for rank, count in enumerate(tokens)]
    pool = np.arange(experts)
    if kind == "one rank":
        own = experts // ranks
        pool = pool[:own] + own * int(rng.integers(ranks))
        topk = min(topk, own)
    node_ranks = int(rng.choice([n for n in range(1, ranks + 1) if ranks % n == 0]))
    idx, weights, x = [], [], []
    for count in tokens:
        chosen = np.argsort(rng.random((count, len(pool))), axis=1)[:, :topk]
        chosen = pool[chosen].astype(np.int64).reshape(count, topk)
        chosen[rng.random(chosen.shape) < (0.7 if kind == "sparse" else 0.1)] = -1
        idx.append(chosen)
        weights.append(rng.random((count, topk), np.float32))
        x.append(to_bf16(rng.standard_normal((count, hidden)).astype(np.float32) * rng.choice([1e-3, 1.0, 100.0])))
    return Case(seed, ranks, node_ranks, hidden, topk, experts, tokens, x, idx, weights)


def expert_output(x: np.ndarray, rank: int) -> np.ndarray:
    """What a rank makes of rows (bits of bfloat16): something that tells the ranks apart."""
    return to_bf16(from_bf16(x) * np.float32(0.37 * (rank + 1)))


def check_combined(case: Case, me: int, got: np.ndarray, biases: List[np.ndarray]) -> None:
    """The weighted sum of a token's copies, here with the rank's factor. In one node it is the float32 sum in the order
    of ranks, rounded once, bit for bit. With more nodes each node's sum is rounded before they are added: |error| <=
    2^-8 times the sum of magnitudes for each of the two roundings."""
    goes, shape = case.goes(me), case.x[me].shape
    total, magnitude = np.zeros(shape, np.float32), np.zeros(shape, np.float64)
    for rank in range(case.ranks):
        row = np.where(goes[:, rank, None], from_bf16(expert_output(case.x[me], rank)), np.float32(0))
        total, magnitude = total + row, magnitude + np.abs(row)
    for bias in biases:
        total, magnitude = total + from_bf16(bias), magnitude + np.abs(from_bf16(bias))
    if case.node_ranks == case.ranks:
        same(got, to_bf16(total), "combined rows")
    error = np.abs(from_bf16(got).astype(np.float64) - total)
    require(bool((error <= 2 * 2.0**-8 * magnitude).all()), "combined rows are too far from the sum")


def cast(x: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """FP8 codes and scales of rows, as a model's user makes them."""
    values = from_bf16(x).reshape(x.shape[0], x.shape[1] // BLOCK, BLOCK)
    scales = np.maximum(np.abs(values).max(axis=2, initial=1e-4), 1e-4).astype(np.float32) / np.float32(448)
    return to_e4m3(values / scales[:, :, None]).reshape(x.shape), scales


def check_cast(codes: np.ndarray, scales: np.ndarray, x: np.ndarray, rounded: bool) -> None:
    """Rows cast on the way: each element within one step of the format, scales as small as they may be."""
    values = from_bf16(x).astype(np.float64).reshape(x.shape[0], x.shape[1] // BLOCK, BLOCK)
    scales = scales.astype(np.float64)[:, :, None]
    most = np.maximum(np.abs(values).max(axis=2, keepdims=True, initial=0), 1e-4)
    require(bool((scales * 448 >= most * (1 - 1e-6)).all()), "a scale is too small for its block")
    require(
        bool((scales * 448 <= most * (2 if rounded else 1 + 1e-6) * (1 + 1e-6)).all()),
        "a scale is too large for its block",
    )
    if rounded:
        same(np.log2(scales) % 1, np.zeros_like(scales), "scales are powers of two")
    got = E4M3[codes].astype(np.float64).reshape(values.shape) * scales
    step = np.maximum(np.abs(values) * 2.0**-3, scales * 2.0**-9)
    require(bool((np.abs(got - values) <= step).all()), "an element is more than one step off")


def check_low_latency_rows(case: Case, me: int, got: Tuple[np.ndarray, Optional[np.ndarray]], count: np.ndarray,
                           source: np.ndarray, ranges: np.ndarray, mode: str) -> None:
    """Rows of each own expert: by source rank, in the source's order."""
    rows_of, scales_of = got
    for expert in range(case.own):
        number, first = me * case.own + expert, 0
        for rank in range(case.ranks):
            tokens = np.flatnonzero((case.topk_idx[rank] == number).any(axis=1))
            here = slice(first, first + len(tokens))
            same(ranges[expert, rank], first << 32 | len(tokens), "layout range")
            same(source[expert, here], tokens, "source tokens")
            wanted = case.x[rank][tokens]
            if mode == "bf16":
                same(rows_of[expert, here], wanted, "low-latency rows")
            else:
                check_cast(rows_of[expert, here], scales_of[expert, here], wanted, mode != "fp8")
            first += len(tokens)
        same(count[expert], first, "received rows of an expert")


def check_low_latency_combined(case: Case, me: int, got: np.ndarray) -> None:
    """Of rows scaled by expert_output: |error| <= 2^-8 of the sum of magnitudes for each of two roundings."""
    total, magnitude = np.zeros(case.x[me].shape), np.zeros(case.x[me].shape)
    for k in range(case.topk):
        expert = case.topk_idx[me][:, k]
        for rank in range(case.ranks):
            there = (expert >= 0) & (expert // case.own == rank)
            row = from_bf16(expert_output(case.x[me], rank)).astype(np.float64) * case.weights[me][:, k, None]
            row = np.where(there[:, None], row, 0)
            total, magnitude = total + row, magnitude + np.abs(row)
    error = np.abs(from_bf16(got).astype(np.float64) - total)
    require(
        bool((error <= 2 * 2.0**-8 * magnitude + 1e-30).all()), "low-latency sums are too far from the weighted sum"
    )
