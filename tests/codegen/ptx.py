# PTX as data: the kernels of a unit, each as a list of instructions with the control flow between them.
"""Reads what `nvcc -ptx` writes. Only entry functions are read; what they call out of line stays a call."""
import collections
import functools
import re
from typing import NamedTuple

SPECIAL = re.compile(r"%(?:tid|laneid)\b")  # what tells the threads of a group apart


class Instruction(NamedTuple):
    text: str       # without predicate: "ld.acquire.sys.global.b64 %rd12, [%rd10]"
    predicate: str  # "%p1", "" if it always executes
    labels: tuple   # that stand before it

    @property
    def opcode(self):
        return self.text.split(None, 1)[0]

    @property
    def registers(self):
        return re.findall(r"%\w+", self.text)


def strip_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)


def statements(body):
    """(labels, statement) in order; braces that only open or close a scope are dropped."""
    labels, parts = [], []
    for line in body.splitlines():
        line = line.strip()
        while True:
            label = re.match(r"([$\w]+):(?!:)\s*", line)
            if not label or parts:
                break
            labels.append(label.group(1))
            line = line[label.end():]
        if not parts:
            line = re.sub(r"^[{}]\s*", "", line)
        for piece in re.split(r"(?<=;)", line):
            if not piece.strip():
                continue
            parts.append(piece.strip())
            if piece.rstrip().endswith(";"):
                text = " ".join(parts).rstrip(";").strip()
                parts = []
                if text and text not in "{}":
                    yield tuple(labels), text
                    labels = []
            elif parts == ["}"]:
                parts = []


class Kernel:
    """One entry function. Instructions are known by their index; `successors[i]` is where control goes from i."""

    def __init__(self, name, body):
        self.name, self.directives, self.instructions, tables = name, [], [], {}
        pending = ()
        for labels, text in statements(body):
            labels = pending + labels
            pending = ()
            if text.startswith(".branchtargets"):
                tables[labels[-1]] = re.findall(r"[$\w]+", text)[1:]
                pending = labels[:-1]
            elif text.startswith("."):
                self.directives.append(text)
                pending = labels
            else:
                predicate = re.match(r"@!?(%\w+)\s+", text)
                if predicate:
                    self.instructions.append(Instruction(text[predicate.end():], predicate.group(1), labels))
                else:
                    self.instructions.append(Instruction(text, "", labels))
        self._link(tables)

    def _link(self, tables):
        positions = {label: i for i, x in enumerate(self.instructions) for label in x.labels}
        self.successors = []
        for i, x in enumerate(self.instructions):
            following = [i + 1] if i + 1 < len(self.instructions) else []
            base = x.opcode.split(".")[0]
            if base == "bra":
                target = [positions[x.text.split()[-1]]]
                self.successors.append(target + following if x.predicate else target)
            elif base == "brx":
                self.successors.append([positions[t] for t in tables[x.text.split(",")[-1].strip()]])
            elif base in ("ret", "exit", "trap") and not x.predicate:
                self.successors.append([])
            else:
                self.successors.append(following)

    def find(self, pattern):
        """Indices of the instructions whose text begins with the pattern."""
        return [i for i, x in enumerate(self.instructions) if re.match(pattern, x.text)]

    def reach(self, starts, avoid=()):
        """Everything that control can get to from `starts` (included) without executing `avoid`."""
        seen, waiting = set(), [s for s in starts if s not in avoid]
        while waiting:
            i = waiting.pop()
            if i not in seen:
                seen.add(i)
                waiting += [s for s in self.successors[i] if s not in avoid]
        return seen

    @functools.cached_property
    def loops(self):
        """Outermost loops: each a list of indices, in text order from where the loop is entered."""
        forward = [self.reach(s) for s in self.successors]
        backward = collections.defaultdict(set)
        for i, seen in enumerate(forward):
            for j in seen:
                backward[j].add(i)
        found, done = [], set()
        for i in range(len(self.instructions)):
            if i in done or i not in forward[i]:
                continue
            members = sorted(forward[i] & backward[i])
            done.update(members)
            inside = set(members)
            heads = [j for p, following in enumerate(self.successors) if p not in inside
                     for j in following if j in inside]
            head = members.index(heads[0]) if heads else 0
            found.append(members[head:] + members[:head])
        return found

    def depends_on_thread(self, register):
        """Is the register computed from the thread's number? (Follows every definition, whatever the path.)"""
        seen, waiting = set(), [register]
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            for x in self.instructions:
                if x.registers and x.registers[0] == name:
                    if SPECIAL.search(x.text):
                        return True
                    waiting += x.registers[1:]
        return False


def kernels(text):
    """name -> Kernel of every entry function of a unit's PTX."""
    text = strip_comments(text)
    found = {}
    for entry in re.finditer(r"\.entry\s+([$\w]+)\s*\(.*?\)[^{]*\{", text, flags=re.S):
        depth, end = 1, entry.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        found[entry.group(1)] = Kernel(entry.group(1), text[entry.end():end - 1])
    return found
