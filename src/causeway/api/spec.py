"""The C API as data: one row per type, one row per operation, one row per function that has no type.

gen.py derives the public headers, the library's exported definitions, the golden symbol list and the report of
`causeway api` from this file. Nothing typed is written by hand.
"""
from typing import NamedTuple

# ------------------------------------------------------------------ types
# Groups are the tables of the specification:
#   r  data movement     w  wait and test        s  sum, product, minimum, maximum      b  and, or, xor over a team
#   a  atomics           e  atomic set, fetch, swap         x  atomic and, or, xor       f  atomic add of floating point
# Name: C type, what it is compiled as where only its width matters, the same where the sign does, groups. (So `long`,
# `long long` and int64_t are one piece of code. Whether char has a sign is the platform's.)
TYPES = {
    "bfloat16":  ("__nv_bfloat16",      "__nv_bfloat16",  "__nv_bfloat16",  "r s"),
    "half":      ("half",               "half",           "half",           "r s"),
    "float":     ("float",              "float",          "float",          "r s e f"),
    "double":    ("double",             "double",         "double",         "r s e f"),
    "char":      ("char",               "uint8_t",        "char",           "r s"),
    "schar":     ("signed char",        "uint8_t",        "int8_t",         "r s"),
    "short":     ("short",              "uint16_t",       "int16_t",        "r w s"),
    "int":       ("int",                "uint32_t",       "int32_t",        "r w s a e"),
    "long":      ("long",               "uint64_t",       "int64_t",        "r w s a e"),
    "longlong":  ("long long",          "uint64_t",       "int64_t",        "r w s a e"),
    "uchar":     ("unsigned char",      "uint8_t",        "uint8_t",        "r s b"),
    "ushort":    ("unsigned short",     "uint16_t",       "uint16_t",       "r w s b"),
    "uint":      ("unsigned int",       "uint32_t",       "uint32_t",       "r w s b a e x"),
    "ulong":     ("unsigned long",      "uint64_t",       "uint64_t",       "r w s b a e x"),
    "ulonglong": ("unsigned long long", "uint64_t",       "uint64_t",       "r w s b a e x"),
    "int8":      ("int8_t",             "uint8_t",        "int8_t",         "r s b"),
    "int16":     ("int16_t",            "uint16_t",       "int16_t",        "r s b"),
    "int32":     ("int32_t",            "uint32_t",       "int32_t",        "r w s b a e x"),
    "int64":     ("int64_t",            "uint64_t",       "int64_t",        "r w s b a e x"),
    "uint8":     ("uint8_t",            "uint8_t",        "uint8_t",        "r s b"),
    "uint16":    ("uint16_t",           "uint16_t",       "uint16_t",       "r s b"),
    "uint32":    ("uint32_t",           "uint32_t",       "uint32_t",       "r w s b a e x"),
    "uint64":    ("uint64_t",           "uint64_t",       "uint64_t",       "r w s b a e x"),
    "size":      ("size_t",             "uint64_t",       "uint64_t",       "r w s b a e"),
    "ptrdiff":   ("ptrdiff_t",          "uint64_t",       "int64_t",        "r w s a e"),
}
SIZES = (8, 16, 32, 64, 128)


# ------------------------------------------------------------------ typed operations
class Op(NamedTuple):
    name: str      # "@" is where a size goes: put@_signal -> float_put_signal, put16_signal, putmem_signal
    group: str     # the types that carry it
    ret: str
    params: str    # T is the element type
    # the operation (view/operation.hpp) with its arguments; W and S are the types that T is compiled as, by width
    value: str
                   # or with its sign; BYTES is nelems in bytes, ELEMENT an element's size
    where: str     # hd host and device | s on stream | g warp and block
    doc: str
    untyped: str = ""   # n: also by size, m: also by bytes
    part: str = "move"  # the unit of the library that exports it: move, sync, coll or reduce


MOVE = "T* dest, const T* source, size_t nelems, int pe"
STRIDED = "T* dest, const T* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe"
SIGNAL = "T* dest, const T* source, size_t nelems, uint64_t* sig_addr, uint64_t signal, int sig_op, int pe"
TEAM = "nvshmem_team_t team, T* dest, const T* source, size_t nelems"

OPS = [
    Op("p", "r", "void", "T* dest, T value, int pe", "P<W>{dest, value, pe}", "hd s",
       "Stores one element to dest at pe, in one store (1.5, 9.5.3). dest: symmetric. Delivered after quiet."),
    Op("g", "r", "T", "const T* source, int pe", "G<W>{source, pe}", "hd s",
       "Loads one element from source at pe, in one load (1.5, 9.5.6). source: symmetric."),
    Op("put@", "r", "void", MOVE, "Put{dest, source, BYTES, pe}", "hd s g",
       "Copies nelems elements to dest at pe (1.5, 9.5.1). dest: symmetric; source may be reused on return. "
       "_warp, _block: called by all threads of the scope with the same arguments.", "n m"),
    Op("get@", "r", "void", MOVE, "Get{dest, source, BYTES, pe}", "hd s g",
       "Copies nelems elements from source at pe (1.5, 9.5.4). source: symmetric; dest is filled on return.", "n m"),
    Op("put@_nbi", "r", "void", MOVE, "Nbi<Put>{{dest, source, BYTES, pe}}", "hd s g",
       "Starts a put (1.5, 9.6.1): source may be reused, and the data are delivered, after quiet.", "n m"),
    Op("get@_nbi", "r", "void", MOVE, "Nbi<Get>{{dest, source, BYTES, pe}}", "hd s g",
       "Starts a get (1.5, 9.6.2): dest is filled after quiet.", "n m"),
    Op("iput@", "r", "void", STRIDED, "Iput<ELEMENT>{dest, source, dst, sst, nelems, pe}", "hd s g",
       "Copies element i from source + i * sst to dest + i * dst at pe (1.5, 9.5.2): strides in elements, of any sign. "
       "dest: symmetric.", "n"),
    Op("iget@", "r", "void", STRIDED, "Iget<ELEMENT>{dest, source, dst, sst, nelems, pe}", "hd s g",
       "Copies element i from source + i * sst at pe to dest + i * dst (1.5, 9.5.5): strides in elements, of any sign. "
       "source: symmetric.", "n"),
    Op("put@_signal", "r", "void", SIGNAL, "PutSignal{{dest, source, BYTES, pe}, {sig_addr, signal, sig_op, pe}}",
       "hd s g",
       "Puts, then updates sig_addr at the same pe by sig_op (NVSHMEM_SIGNAL_SET, _ADD): who sees the signal sees the "
       "data (1.5, 9.8.3). dest, sig_addr: symmetric.", "n m"),
    Op("put@_signal_nbi", "r", "void", SIGNAL,
       "Nbi<PutSignal>{{{dest, source, BYTES, pe}, {sig_addr, signal, sig_op, pe}}}",
       "hd s g", "Starts a put with signal (1.5, 9.8.4): source may be reused after quiet.", "n m"),
]

# ---- atomics
ATOMIC = "One atomic operation on dest at pe, whoever else updates it; orders nothing (1.5, 9.7). dest: symmetric"
FETCH = ATOMIC + ". Returns what was there before."
NBI = ATOMIC + ". *fetch is what was there before, after quiet (1.5, 9.7.2)."
OPS += [
    Op("atomic_fetch", "e", "T", "const T* source, int pe", "AtomicFetch<W>{source, pe}", "hd",
       "Loads source at pe atomically (1.5, 9.7.1.1). source: symmetric.", part="sync"),
    Op("atomic_fetch_nbi", "e", "void", "T* fetch, const T* source, int pe",
       "Into<AtomicFetch<W>>{fetch, {source, pe}}",
       "hd s", "Starts an atomic load of source at pe: *fetch has it after quiet (1.5, 9.7.2.1).", part="sync"),
    Op("atomic_set", "e", "void", "T* dest, T value, int pe", "AtomicSet<W>{dest, value, pe}", "hd s",
       "Stores value atomically. " + ATOMIC + ".", part="sync"),
    Op("atomic_compare_swap", "a", "T", "T* dest, T cond, T value, int pe",
       "AtomicCompareSwap<W>{dest, cond, value, pe}",
       "hd", "Stores value if dest is cond. " + FETCH, part="sync"),
    Op("atomic_compare_swap_nbi", "a", "void", "T* fetch, T* dest, T cond, T value, int pe",
       "Into<AtomicCompareSwap<W>>{fetch, {dest, cond, value, "
       "pe}}", "hd s", "Stores value if dest is cond. " + NBI, part="sync"),
]
for verb, group, functor, what in (("swap", "e", "Swap", "Stores value"), ("add", "a f", "Add", "Adds value"),
                                   ("and", "x", "And", "Ands value into it"), ("or", "x", "Or", "Ors value into it"),
                                   ("xor", "x", "Xor", "Xors value into it")):
    update = f"AtomicUpdate<Atomic{functor}, W>"
    if verb != "swap":
        OPS.append(Op(f"atomic_{verb}", group, "void", "T* dest, T value, int pe",
                      f"{update}{{dest, value, pe}}", "hd s", f"{what}. {ATOMIC}.", part="sync"))
    fetching = verb if verb == "swap" else f"fetch_{verb}"
    OPS += [Op(f"atomic_{fetching}", group, "T", "T* dest, T value, int pe", f"{update}{{dest, value, pe}}",
               "hd", f"{what}. {FETCH}", part="sync"),
            Op(f"atomic_{fetching}_nbi", group, "void", "T* fetch, T* dest, T value, int pe",
               f"Into<{update}>{{fetch, {{dest, value, pe}}}}", "hd s", f"{what}. {NBI}", part="sync")]
ADD_ONE = "{dest, 1, pe}"
OPS += [
    Op("atomic_inc", "a", "void", "T* dest, int pe", f"AtomicUpdate<AtomicAdd, W>{ADD_ONE}", "hd s",
       f"Adds 1. {ATOMIC}.", part="sync"),
    Op("atomic_fetch_inc", "a", "T", "T* dest, int pe", f"AtomicUpdate<AtomicAdd, W>{ADD_ONE}", "hd",
       f"Adds 1. {FETCH}", part="sync"),
    Op("atomic_fetch_inc_nbi", "a", "void", "T* fetch, T* dest, int pe",
       f"Into<AtomicUpdate<AtomicAdd, W>>{{fetch, {ADD_ONE}}}", "hd s", f"Adds 1. {NBI}", part="sync"),
]

# ---- waits and tests
OPS += [
    Op("wait_until", "w", "void", "T* ivar, int cmp, T value", "WaitUntil<S>{ivar, cmp, value}", "hd s",
       "Waits until the caller's *ivar compares so with value (1.5, 9.9.1); what its writer released is then visible.",
       part="sync"),
    Op("test", "w", "int", "T* ivar, int cmp, T value", "Test<S>{ivar, cmp, value}", "hd",
       "1 if the caller's *ivar compares so with value, else 0 (1.5, 9.9.8).", part="sync"),
]
for vector, value, each in (("", "T value", "value"), ("_vector", "T* values", "its element of values")):
    them = f"the nelems ivars, those with a status other than 0 left out (status may be null), compare so with {each}"
    for verb, ret, extra, doc, where in (
            ("wait_until_all", "void", "", f"Waits until all of {them} (1.5, 9.9.2).", "hd s"),
            ("wait_until_any", "size_t", "",
             f"Waits until one of {them}, and returns its number; SIZE_MAX at once if none "
             "takes part (1.5, 9.9.3).", "hd"),
            ("wait_until_some", "size_t", "size_t* indices, ", f"Waits until some of {them}; their numbers to indices, "
             "returns how many; 0 at once if none takes part (1.5, 9.9.4).", "hd"),
            ("test_all", "int", "", f"1 if all of {them}, else 0 (1.5, 9.9.9).", "hd"),
            ("test_any", "size_t", "", f"The number of one of {them}, or SIZE_MAX (1.5, 9.9.10).", "hd"),
            ("test_some", "size_t", "size_t* indices, ", f"The numbers of {them} to indices; how many (1.5, 9.9.11).",
             "hd")):
        indices = "indices" if extra else "nullptr"
        compared = "0, values, true" if vector else "value, nullptr, false"
        many = f"Many<{verb.split('_')[-1].title()}, S, {str(verb.startswith('wait')).lower()}>"
        OPS.append(Op(verb + vector, "w", ret, f"T* ivars, size_t nelems, {extra}const int* status, int cmp, {value}",
                      f"{many}{{ivars, nelems, {indices}, status, cmp, {compared}}}", where, doc, part="sync"))

# ---- collectives
OPS += [
    Op("broadcast@", "r", "int", TEAM + ", int PE_root", "Broadcast{team, dest, source, BYTES, PE_root}", "hd s g",
       "Copies source of team member PE_root to dest of every member (1.5, 9.11.6). Called by all members; dest, "
       "source: symmetric. 0 on success.", "m", "coll"),
    Op("fcollect@", "r", "int", TEAM, "Fcollect{team, dest, source, BYTES}", "hd s g",
       "Concatenates the members' sources, nelems each, in member order in every dest (1.5, 9.11.7).", "m", "coll"),
    Op("collect@", "r", "int", TEAM, "Collect{team, dest, source, BYTES}", "hd s g",
       "Concatenates the members' sources, of as many elements as each gives, in member order in every dest "
       "(1.5, 9.11.7).", "m", "coll"),
    Op("alltoall@", "r", "int", TEAM, "Alltoall{team, dest, source, BYTES}", "hd s g",
       "Block j (nelems) of member i's source becomes block i of member j's dest (1.5, 9.11.8). dest and source do not "
       "overlap.", "m", "coll"),
    Op("alltoalls@", "r", "int",
       "nvshmem_team_t team, T* dest, const T* source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems",
       "Alltoalls<ELEMENT>{team, dest, source, dst, sst, nelems}", "hd s g",
       "alltoall of elements that lie dst and sst (at least 1) elements apart (1.5, 9.11.8).", "m", "coll"),
]
REDUCED = ("element by element into every dest: the same bits everywhere (1.5, 9.11.9). In place or not overlapping. "
           "half and bfloat16 are combined in float.")
for operator, group, functor, what in (("sum", "s", "Sum", "Adds"), ("prod", "s", "Prod", "Multiplies"),
                                       ("min", "s", "Min", "Takes the least of"),
                                       ("max", "s", "Max", "Takes the greatest of"),
                                       ("and", "b", "And", "Ands"), ("or", "b", "Or", "Ors"),
                                       ("xor", "b", "Xor", "Xors")):
    plain = "S" if functor in ("Min", "Max") else "W"
    OPS += [
        Op(f"{operator}_reduce", group, "int", TEAM, f"Reduce<{functor}, {plain}>{{team, dest, source, nelems}}",
           "hd s g",
           f"{what} the members' sources {REDUCED}", part="reduce"),
        Op(f"{operator}_reducescatter", group, "int", TEAM,
           f"Reducescatter<{functor}, {plain}>{{team, dest, source, nelems}}", "hd s g",
           f"{what} the members' sources of nelems elements a member; member k gets part k in its dest. In place all "
           f"of "
           "source is overwritten.", part="reduce"),
    ]
OPS += [
    Op("sum_inscan", "s", "int", TEAM, "SumScan<W, true>{team, dest, source, nelems}", "hd s g",
       "Adds the sources of the members up to the caller, element by element (1.6, 9.11.10).", part="reduce"),
    Op("sum_exscan", "s", "int", TEAM, "SumScan<W, false>{team, dest, source, nelems}", "hd s g",
       "Adds the sources of the members before the caller, element by element; 0 for the first (1.6, 9.11.11).",
       part="reduce"),
]


# ------------------------------------------------------------------ functions without a type
class Function(NamedTuple):
    name: str
    ret: str
    params: str
    where: str     # h host | hd host and device | g warp and block | s on stream | warpgroup, block: that scope alone |
                   # inline: defined in a header
    # the operation; or a query, in api/queries.hpp and api/host_queries.hpp; "": defined by hand in the library
    value: str
    doc: str
    part: str = "sync"


V = "void"
FUNCTIONS = [
    # --- life of the library
    Function("nvshmem_init", V, "", "h", "",
             "Joins the job (1.5, 9.1.1): called by every PE. A failure is reported and kept for "
             "causeway_last_error()."),
    Function("nvshmem_init_thread", "int", "int requested, int* provided", "h", "",
             "nvshmem_init with a thread level (1.5, 9.2.2). 0 on success; *provided is NVSHMEM_THREAD_SERIALIZED."),
    Function("nvshmem_finalize", V, "", "h", "", "Leaves the job (1.5, 9.1.4): completes all work; collective."),
    Function("nvshmem_global_exit", V, "int status", "h", "",
             "Ends every PE of the job with this status (1.5, 9.1.5)."),
    Function("nvshmem_query_thread", V, "int* provided", "h", "", "The thread level that init granted (1.5, 9.2.3)."),
    Function("nvshmemx_init_attr", "int", "unsigned int flags, nvshmemx_init_attr_t* attributes", "h", "",
             "nvshmem_init by a given way (NVSHMEMX_INIT_WITH_UNIQUEID) with its attributes. 0 on success."),
    Function("nvshmemx_get_uniqueid", "int", "nvshmemx_uniqueid_t* uniqueid", "h", "",
             "Makes a unique id for a job to meet by; pass it to all PEs. Cheap: may be called on every PE."),
    Function("nvshmemx_set_attr_uniqueid_args", "int",
             "const int myrank, const int nranks, const nvshmemx_uniqueid_t* uniqueid, nvshmemx_init_attr_t* attr", "h",
             "", "Fills init attributes for NVSHMEMX_INIT_WITH_UNIQUEID. 0 on success."),
    Function("nvshmemx_init_status", "int", "", "h", "", "How far this PE is initialised: nvshmemx_init_status_t."),
    Function("nvshmemx_hostlib_init_attr", "int", "unsigned int flags, nvshmemx_init_attr_t* attributes", "h", "",
             "nvshmemx_init_attr, for programs that use the host library alone."),
    Function("nvshmemx_hostlib_finalize", V, "", "h", "",
             "nvshmem_finalize, for programs that use the host library alone."),
    # --- queries
    Function("nvshmem_my_pe", "int", "", "hd", "my_pe()", "The caller's PE number (1.5, 9.1.6); -1 before init."),
    Function("nvshmem_n_pes", "int", "", "hd", "n_pes()", "The number of PEs (1.5, 9.1.7); -1 before init."),
    Function("nvshmem_info_get_version", V, "int* major, int* minor", "hd", "info_get_version(major, minor)",
             "The version of the OpenSHMEM-like interface (1.5, 9.1.11)."),
    Function("nvshmem_info_get_name", V, "char* name", "hd", "info_get_name(name)",
             "The library's name and version; name holds NVSHMEM_MAX_NAME_LEN characters (1.5, 9.1.12)."),
    Function("nvshmemx_vendor_get_version_info", V, "int* major, int* minor, int* patch", "hd",
             "vendor_version(major, minor, patch)", "The version of NVSHMEM whose interface this library has."),
    # --- memory
    Function("nvshmem_malloc", "void*", "size_t size", "h", "",
             "Symmetric memory (1.5, 9.3.1): collective, same size everywhere. Null for size 0 or on failure. The heap "
             "grows when it is full."),
    Function("nvshmem_calloc", "void*", "size_t count, size_t size", "h", "", "nvshmem_malloc, zeroed (1.5, 9.3.3)."),
    Function("nvshmem_align", "void*", "size_t alignment, size_t size", "h", "",
             "nvshmem_malloc at a multiple of alignment, a power of two up to 1 GiB (1.5, 9.3.1)."),
    Function("nvshmem_free", V, "void* ptr", "h", "", "Gives symmetric memory back (1.5, 9.3.1): collective. Waits for "
             "the device."),
    Function("nvshmem_ptr", "void*", "const void* dest, int pe", "hd", "ptr(dest, pe)",
             "An address by which dest at pe can be loaded and stored directly, or null (1.5, 9.3.5)."),
    Function("nvshmem_realloc", "void*", "void* ptr, size_t size", "h", "",
             "Symmetric memory of another size with the old contents, as far as they fit (1.5, 9.3.1): collective. "
             "Null ptr: nvshmem_malloc; size 0: nvshmem_free. Null on failure, ptr is then as before. Waits for the "
             "device."),
    Function("nvshmemx_mc_ptr", "void*", "nvshmem_team_t team, const void* ptr", "hd", "mc_ptr(team, ptr)",
             "A multicast address of ptr for the team's PEs, or null where there is no multicast (there is none)."),
    Function("nvshmemx_buffer_register", "int", "void* addr, size_t length", "h", "",
             "Makes the caller's own memory [addr, addr + length) known, so that kernels may use it as the local side "
             "of operations: host memory becomes reachable by the device. Registered ranges do not overlap. 0 on "
             "success."),
    Function("nvshmemx_buffer_unregister", "int", "void* addr", "h", "",
             "Takes back nvshmemx_buffer_register of the range that begins at addr. 0 on success."),
    Function("nvshmemx_buffer_unregister_all", V, "", "h", "", "nvshmemx_buffer_unregister of all ranges."),
    Function("nvshmemx_buffer_register_symmetric", "void*", "void* ptr, size_t size, int flags", "h", "",
             "Maps memory that the program has allocated into the symmetric heap; returns its symmetric address, null "
             "on failure. Collective: the same size everywhere, flags 0. ptr: whole pages of memory that can be shared "
             "(cuMemCreate with a POSIX file descriptor; on the CPU machine also cudaMalloc, which begins at a page "
             "from 4 MiB on)."),
    Function("nvshmemx_buffer_unregister_symmetric", "int", "void* ptr, size_t size", "h", "",
             "Takes back nvshmemx_buffer_register_symmetric, given its result: collective. Waits for the device. 0 on "
             "success."),
    Function("causeway_heap_info", "int", "size_t* mapped, size_t* used, size_t* largest", "h", "",
             "Bytes of the caller's symmetric heap: mapped so far, given out, and the largest block it has without "
             "growing. Each may be null. 0 on success."),
    # --- teams
    Function("nvshmem_team_my_pe", "int", "nvshmem_team_t team", "hd", "team_my_pe(team)",
             "The caller's number in the team, -1 if it is no member (1.5, 9.4.1)."),
    Function("nvshmem_team_n_pes", "int", "nvshmem_team_t team", "hd", "team_n_pes(team)",
             "The team's number of PEs, -1 for an invalid team (1.5, 9.4.2)."),
    Function("nvshmem_team_translate_pe", "int", "nvshmem_team_t src_team, int src_pe, nvshmem_team_t dest_team", "hd",
             "team_translate_pe(src_team, src_pe, dest_team)",
             "The number in dest_team of PE src_pe of src_team, -1 if it has none (1.5, 9.4.4)."),
    Function("nvshmem_team_split_strided", "int",
             "nvshmem_team_t parent_team, int PE_start, int PE_stride, int PE_size, "
             "const nvshmem_team_config_t* config, long config_mask, nvshmem_team_t* new_team", "h", "",
             "Makes a team of PEs PE_start, PE_start + PE_stride, ... of the parent (1.5, 9.4.5). Called by all of the "
             "parent; others than members get NVSHMEM_TEAM_INVALID. 0 on success."),
    Function("nvshmem_team_split_2d", "int",
             "nvshmem_team_t parent_team, int xrange, const nvshmem_team_config_t* xaxis_config, long xaxis_mask, "
             "nvshmem_team_t* xaxis_team, const nvshmem_team_config_t* yaxis_config, long yaxis_mask, "
             "nvshmem_team_t* yaxis_team", "h", "",
             "Lays the parent out in rows of xrange PEs: the caller's row becomes xaxis_team, its column yaxis_team "
             "(1.5, 9.4.6). Called by all of the parent. 0 on success; on failure all get NVSHMEM_TEAM_INVALID."),
    Function("nvshmem_team_get_config", V, "nvshmem_team_t team, nvshmem_team_config_t* config", "h", "",
             "The configuration that the team was made with (1.5, 9.4.3)."),
    Function("nvshmemx_team_get_uniqueid", "int", "nvshmemx_team_uniqueid_t* uniqueid", "h", "",
             "Makes an id for nvshmemx_team_init; pass it to the PEs that are to meet. 0 on success."),
    Function("nvshmemx_team_init", "int",
             "nvshmem_team_t* team, nvshmem_team_config_t* config, long config_mask, int npes, int "
             "pe_idx_in_team", "h", "",
             "Makes a team of any npes PEs, called by those alone: each gives its own number in the team, and "
             "config->uniqueid (with NVSHMEM_TEAM_CONFIG_MASK_UNIQUEID) says whom it meets. 0 on success."),
    Function("nvshmem_team_destroy", V, "nvshmem_team_t team", "h", "", "Gives a team back (1.5, 9.4.7): all "
             "members call it. Waits for the device once they have come."),
    # --- order
    Function("nvshmem_fence", V, "", "hd", "Fence{}",
             "Orders earlier puts to each PE before later ones (1.5, 9.10.1)."),
    Function("nvshmem_quiet", V, "", "hd", "Quiet{}", "Completes the caller's earlier operations (1.5, 9.10.2)."),
    Function("nvshmemx_quiet_on_stream", V, "cudaStream_t stream", "h", "on_stream(Quiet{}, stream)",
             "quiet, when the stream gets there."),
    # --- barriers: team forms answer a status
    Function("nvshmem_barrier", "int", "nvshmem_team_t team", "hd g s", "Barrier{team}",
             "Completes the members' operations and meets (1.5, 9.11.3). 0 on success."),
    Function("nvshmem_barrier_all", V, "", "hd g s", "Barrier{0}", "nvshmem_barrier of all PEs (1.5, 9.11.1)."),
    Function("nvshmem_team_sync", "int", "nvshmem_team_t team", "hd g s", "Sync{team}",
             "Meets; shows earlier stores, without completing other operations (1.5, 9.11.4). 0 on success."),
    Function("nvshmem_sync_all", V, "", "hd g s", "Sync{0}", "nvshmem_team_sync of all PEs (1.5, 9.11.2)."),
    Function("nvshmemx_barrier_warpgroup", "int", "nvshmem_team_t team", "warpgroup", "Barrier{team}",
             "nvshmem_barrier, called by the 128 threads of a warpgroup."),
    Function("nvshmemx_double2_maxloc_reduce_block", "int",
             "nvshmem_team_t team, double2* dest, const double2* source, size_t nreduce", "block",
             "Reduce<MaxLoc, double2>{team, dest, source, nreduce}",
             "Of each element {value, index}: the greatest value of all members with the least of its indices. Called "
             "by all threads of the block."),
    # --- signals
    Function("nvshmem_signal_fetch", "uint64_t", "uint64_t* sig_addr", "hd", "SignalFetch{sig_addr}",
             "The caller's own signal word (1.5, 9.8.5)."),
    Function("nvshmemx_signal_op", V, "uint64_t* sig_addr, uint64_t signal, int sig_op, int pe", "hd s",
             "SignalOp{sig_addr, signal, sig_op, pe}",
             "Updates the signal word at pe (NVSHMEM_SIGNAL_SET, _ADD); ordered by nothing."),
    Function("nvshmem_signal_wait_until", "uint64_t", "uint64_t* sig_addr, int cmp, uint64_t cmp_val", "hd",
             "WaitUntil<uint64_t>{sig_addr, cmp, cmp_val}",
             "Waits until the caller's own signal word compares so; returns the value seen (1.5, 9.9.15)."),
    Function("nvshmemx_signal_wait_until_on_stream", V,
             "uint64_t* sig_addr, int cmp, uint64_t cmp_value, cudaStream_t stream",
             "h", "on_stream(WaitUntil<uint64_t>{sig_addr, cmp, cmp_value}, stream)",
             "nvshmem_signal_wait_until, when the stream gets there."),
    # --- launches: inline in api/collective_launch.hpp, since a kernel's address belongs to the unit's CUDA runtime
    Function("nvshmemx_collective_launch", "int",
             "const void* func, dim3 gridDims, dim3 blockDims, void** args, size_t sharedMem, cudaStream_t stream",
             "inline", "",
             "Launches a kernel on every PE such that all of its blocks run at the same time, so that they may wait "
             "for each other and for other PEs. A grid of 0 means the largest such grid. 0 on success."),
    Function("nvshmemx_collective_launch_query_gridsize", "int",
             "const void* func, dim3 blockDims, void** args, size_t sharedMem, int* gridsize", "inline", "",
             "The largest grid that nvshmemx_collective_launch takes for this kernel. 0 on success."),
    # --- ours
    Function("causeway_last_error", "const char*", "", "h", "",
             "The text of the first error that init met, else of this PE's last failed call; empty if none."),
    Function("causeway_error_count", "uint64_t", "", "h", "",
             "How many errors calls of this thread have reported so far: it tells whether a call without a status "
             "has."),
]


# ------------------------------------------------------------------ templates on tiles, defined in api/tile.hpp
class Template(NamedTuple):
    name: str
    template: str
    params: str


TENSORS = "typename src_tensor_t, typename dst_tensor_t, typename tuple_t, nvshmemx::tile_coll_algo_t algo"
TILE = "nvshmem_team_t team, src_tensor_t src, dst_tensor_t dst, tuple_t start_coord, tuple_t boundary, "
TEMPLATES = [
    *(Template(f"nvshmemx::tile_{op}_{what}", TENSORS, TILE + last) for op in ("sum", "min", "max")
      for what, last in (("allreduce", "uint64_t flag"), ("allreduce", "int root, uint64_t flag"),
                         ("reduce", "int root, uint64_t flag"))),
    Template("nvshmemx::tile_allgather", TENSORS, TILE + "uint64_t flag"),
    Template("nvshmemx::tile_collective_wait", "nvshmemx::tile_coll_algo_t algo", "nvshmem_team_t team, uint64_t flag"),
]
TEMPLATE_SCOPES = ("", "_warp", "_warpgroup", "_block")
