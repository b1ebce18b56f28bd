"""Two processes of torchrun join, leave and join again, over a store that keeps what was set before. Run as:
python tests/python/start_test.py     (PyTorch is played by a store of files: it need not be there)
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import types
from typing import Any, Iterator, Tuple

LIMIT_S = 60


class FileStore:
    """A rendezvous store as torch.distributed has them: get() waits until the key is set."""

    def __init__(self, folder: str) -> None:
        self.folder = pathlib.Path(folder)

    def path(self, key: str) -> pathlib.Path:
        return self.folder / key.replace("/", ".")

    def set(self, key: str, value: bytes) -> None:
        draft = self.path(key + ".draft")
        draft.write_bytes(value)
        draft.rename(self.path(key))

    def wait(self, key: str) -> bytes:
        limit = time.monotonic() + LIMIT_S
        while not self.path(key).exists():
            if time.monotonic() > limit:
                raise TimeoutError(key)
            time.sleep(0.001)
        return self.path(key).read_bytes()

    def get(self, key: str) -> bytes:
        self.set(f"asked.{os.environ['RANK']}.{os.environ['TURN']}", b"")  # so that rank 0 can be later than rank 1
        return self.wait(key)


def play_torch(store: FileStore) -> None:
    torch, distributed = types.ModuleType("torch"), types.ModuleType("torch.distributed")

    def rendezvous(_: str) -> Iterator[Tuple[Any, int, int]]:
        yield store, int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])

    distributed.is_initialized = lambda: False  # type: ignore[attr-defined]
    distributed.rendezvous = rendezvous  # type: ignore[attr-defined]
    torch.distributed = distributed  # type: ignore[attr-defined]
    torch.cuda = types.SimpleNamespace(is_initialized=lambda: False)  # type: ignore[attr-defined]
    sys.modules.update({"torch": torch, "torch.distributed": distributed})


def process(folder: str) -> None:
    store = FileStore(folder)
    play_torch(store)
    import causeway

    rank = int(os.environ["RANK"])
    for turn in (1, 2, 3):
        os.environ["TURN"] = str(turn)
        if rank == 0:
            store.wait(f"asked.1.{turn}")
        causeway.init()
        assert (causeway.my_pe(), causeway.n_pes()) == (rank, 2), (causeway.my_pe(), causeway.n_pes())
        causeway.finalize()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        ranks = []
        for rank in (0, 1):
            environment = dict(
                os.environ, RANK=str(rank), WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT="1", TURN="0"
            )
            ranks.append(subprocess.Popen([sys.executable, __file__, folder], env=environment))
        try:
            statuses = [one.wait(2 * LIMIT_S) for one in ranks]
        finally:
            for one in ranks:
                one.kill()
    assert statuses == [0, 0], statuses
    print("passed")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        process(sys.argv[1])
    else:
        main()
