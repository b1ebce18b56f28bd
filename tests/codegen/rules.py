# What can be demanded of a kernel's PTX: each rule is a sentence and a test that answers what is wrong, or nothing.
"""Patterns match an instruction from its opcode on; directives (`.local`, `.reg`) are not instructions."""
import re
from typing import Callable, NamedTuple, Optional

from ptx import Kernel

FENCE = r"(?:fence|membar)\b"
LOAD = r"ld\.(?!param|const|local)"
STORE = r"st\.(?!param|local)"
RELEASE = r"(?:st|red|atom)\S*\.(?:release|acq_rel)"
CALL = r"call\b"
VECTOR = r"\S*\.(?:v4\.[bufs]32|v2\.[bufs]64|b128)\b"  # 16 bytes
LOAD16, STORE16 = "ld" + VECTOR, "st" + VECTOR


class Rule(NamedTuple):
    text: str
    problem: Callable[[Kernel], Optional[str]]


def _count(kernel, pattern):
    return len(kernel.find(pattern))


def exactly(count, pattern, what):
    """`count` instructions match."""
    return Rule(f"exactly {count} {what}",
                lambda k: None if _count(k, pattern) == count else f"{_count(k, pattern)} found")


def at_least(count, pattern, what):
    return Rule(f"at least {count} {what}",
                lambda k: None if _count(k, pattern) >= count else f"{_count(k, pattern)} found")


def at_most(count, pattern, what):
    return Rule(f"at most {count} {what}",
                lambda k: None if _count(k, pattern) <= count else f"{_count(k, pattern)} found")


def absent(pattern, what):
    def problem(k):
        found = k.find(pattern)
        return f"{len(found)} found, first: {k.instructions[found[0]].text}" if found else None
    return Rule(f"no {what}", problem)


def straight_line():
    """No branch, no call, nothing predicated: the instructions execute once each."""
    def problem(k):
        for x in k.instructions:
            if x.predicate or re.match(r"bra|brx|call", x.text):
                return f"found: {x.text}"
        return None
    return Rule("no branch, loop or call", problem)


def no_local_memory():
    return Rule("no local memory", lambda k: "has a __local_depot" if any(
        "__local_depot" in d for d in k.directives) or k.find(r"(?:ld|st)\.local") else None)


def in_flight(count):
    """The copy's main loop loads `count` times 16 bytes before its first store."""
    def problem(k):
        best = 0
        for loop in k.loops:
            loads = 0
            for i in loop:
                if re.match(STORE, k.instructions[i].text):
                    break
                loads += bool(re.match(LOAD16, k.instructions[i].text))
            best = max(best, loads)
        return None if best >= count else f"at most {best} in any loop"
    return Rule(f"a loop with {count} 16-byte loads before its first store", problem)


def steps_of_16():
    """The loop with the most 16-byte loads moves all that it loads by 16-byte stores, and nothing narrower."""
    def problem(k):
        def of(loop, pattern):
            return sum(bool(re.match(pattern, k.instructions[i].text)) for i in loop)
        if not k.loops:
            return "no loop"
        main = max(k.loops, key=lambda loop: of(loop, LOAD16))
        wide, stores, loads = of(main, LOAD16), of(main, STORE16), of(main, LOAD)
        if wide and wide == stores == loads and of(main, STORE) == stores:
            return None
        return f"{wide} of {loads} loads and {stores} of {of(main, STORE)} stores have 16 bytes"
    return Rule("the main loop moves 16 bytes a step", problem)


def precedes(first, second, what):
    """Every path to an instruction that matches `second` executes one that matches `first`."""
    def problem(k):
        ends = k.find(second)
        if not ends:
            return "the second is missing"
        missed = k.reach([0], avoid=k.find(first)) & set(ends)
        return f"not before: {k.instructions[min(missed)].text}" if missed else None
    return Rule(what, problem)


def between(first, middle, second, what):
    """Every path from an instruction that matches `first` to one that matches `second` executes one of `middle`."""
    def problem(k):
        begins = k.find(first)
        if not begins or not k.find(second):
            return "the first or the second is missing"
        after = k.reach([s for i in begins for s in k.successors[i]], avoid=k.find(middle))
        missed = after & set(k.find(second))
        return f"not between: {k.instructions[min(missed)].text}" if missed else None
    return Rule(what, problem)


def none_before(first, banned, what):
    """Nothing banned is executed before the first instruction that matches `first`."""
    def problem(k):
        before = k.reach([0], avoid=k.find(first)) if k.find(first) else set()
        if not k.find(first):
            return "the instruction itself is missing"
        # Paths that can still get there; those that end without it are no business of this rule.
        bad = [i for i in k.find(banned) if i in before and k.reach([i]) & set(k.find(first))]
        return f"{len(bad)} found, first: {k.instructions[min(bad)].text}" if bad else None
    return Rule(what, problem)


def one_thread(pattern, what):
    """Executed once, by one thread: not in a loop, and behind a test for equality with the thread's number."""
    def guarded(k, i):
        x = k.instructions[i]
        if x.predicate and chooses(k, x.predicate):
            return True
        for b, branch in enumerate(k.instructions):
            if branch.predicate and branch.opcode.startswith("bra") and chooses(k, branch.predicate):
                ways = [i in k.reach([s], avoid=[b]) for s in k.successors[b]]
                if len(ways) == 2 and ways[0] != ways[1]:
                    return True
        return False

    def chooses(k, predicate):
        made = [x for x in k.instructions if x.registers and x.registers[0] == predicate]
        return all(re.match(r"setp\.(?:eq|ne)|(?:and|or|not|xor)\.pred", x.text) for x in made) and \
            k.depends_on_thread(predicate)

    def problem(k):
        found = k.find(pattern)
        if not found:
            return "none found"
        for i in found:
            if any(i in loop for loop in k.loops):
                return f"in a loop: {k.instructions[i].text}"
            if not guarded(k, i):
                return f"not behind a test for one thread: {k.instructions[i].text}"
        return None
    return Rule(what, problem)


def polls_only(pattern, what):
    """There is a polling loop, and the loads in it are the pattern's alone."""
    def problem(k):
        loops = [loop for loop in k.loops if any(re.match(pattern, k.instructions[i].text) for i in loop)]
        if not loops:
            return "no loop polls so"
        other = [i for loop in loops for i in loop
                 if re.match(LOAD, k.instructions[i].text) and not re.match(pattern, k.instructions[i].text)]
        return f"also: {k.instructions[other[0]].text}" if other else None
    return Rule(what, problem)


def polls_long_without(costly, poll, what):
    """There is a way from a poll back to it that executes nothing costly."""
    def problem(k):
        found = k.find(poll)
        if any(i in k.reach(k.successors[i], avoid=k.find(costly)) for i in found):
            return None
        return "every way back to it does" if found else "there is no such poll"
    return Rule(what, problem)


def calls_only(name, work, what):
    """Calls are of that name, and a way from the beginning through `work` to the end makes none."""
    def problem(k):
        calls = k.find(CALL)
        for i in calls:
            if not re.search(name, k.instructions[i].text):
                return f"calls {k.instructions[i].text}"
        reached = k.reach([0], avoid=calls)
        done = [i for i in k.find(work) if i in reached]
        return None if done and k.reach(done, avoid=calls) & set(k.find(r"ret\b")) else "every way makes a call"
    return Rule(what, problem)


def calls_only_reports(poll):
    """Calls are reports, or ask who has gone, and both a poll after a poll and the way out avoid them."""
    def problem(k):
        calls = k.find(CALL)
        for i in calls:
            if not re.search(r"report|has_gone|printf", k.instructions[i].text):
                return f"calls {k.instructions[i].text}"
        if not k.find(r"ret\b") or not k.reach([0], avoid=calls) & set(k.find(r"ret\b")):
            return "every way out makes a call"
        if not any(i in k.reach(k.successors[i], avoid=calls) for i in k.find(poll)):
            return "every poll makes a call"
        return None
    return Rule("no call but to report, and none between polls", problem)
