"""What may include what: the floors that the library's folders stand on. A rule of tidy.py."""
import posixpath
import re

ROOT = "src/causeway"  # the library; elsewhere and without it the rule finds nothing
# From the bottom to the top. A folder includes what stands below it; those that share a floor do not include each
# other.
FLOORS = [
    ("base",),
    ("bootstrap", "config", "machine"),
    ("emulator", "heap", "view"),
    ("amo", "order", "rma"),
    ("coll", "signal"),
    ("host",),
    ("team",),
    ("runtime",),
    ("api",),
    ("moe",),
]


def included(source, include):
    """The folder of the library that `include` of this file is of, or what stands above the library; None for all
    else."""
    parts = include.split("/")
    if parts[0] == "tools":
        return "tools"
    if parts[0] == posixpath.basename(ROOT):
        return parts[1] if len(parts) > 2 else None
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source.path), include))
    return path[len(ROOT) + 1:].split("/")[0] if path.startswith(ROOT + "/") else None


def floor_of(folder):
    return next((number for number, folders in enumerate(FLOORS) if folder in folders), None)


def upward(source):
    """(line, text) of each include of what stands above this file's folder, or beside it."""
    own = floor_of(source.folder)
    if source.path == source.inside or own is None:
        return
    for m in re.finditer(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', source.text, re.M):
        folder = included(source, m.group(1))
        other = len(FLOORS) if folder == "tools" else floor_of(folder)
        if folder == source.folder or other is None or other < own:
            continue
        relation = "beside" if other == own else "below"
        shown = m.group(1).removeprefix(posixpath.basename(ROOT) + "/")
        yield source.line_of(m.start(1)), f"includes {shown}: {source.folder} is {relation} {folder}"


def without_floor(files):
    """(path, line, text) of each folder of the library that FLOORS does not have."""
    first = {s.folder: s.path for s in reversed(files) if s.path != s.inside and "/" in s.inside}
    return [(path, 1, f"{folder} stands on no floor: add it to FLOORS of tools/tidy_floors.py")
            for folder, path in sorted(first.items()) if floor_of(folder) is None]
