"""The C API as data: one row per type, one row per operation, one row per function that has no type.

gen.py derives the public headers, the library's exported definitions, the golden symbol list and the report of
`causeway api` from this file. Nothing typed is written by hand.
"""
from typing import NamedTuple

# ------------------------------------------------------------------ types
# Groups are the tables of the specification:
#   r  data movement     w  wait and test     s  sum
TYPES = {
    "bfloat16":  ("__nv_bfloat16",      "r s"),
    "half":      ("half",               "r s"),
    "float":     ("float",              "r s"),
    "double":    ("double",             "r s"),
    "char":      ("char",               "r s"),
    "schar":     ("signed char",        "r s"),
    "short":     ("short",              "r w s"),
    "int":       ("int",                "r w s"),
    "long":      ("long",               "r w s"),
    "longlong":  ("long long",          "r w s"),
    "uchar":     ("unsigned char",      "r s"),
    "ushort":    ("unsigned short",     "r w s"),
    "uint":      ("unsigned int",       "r w s"),
    "ulong":     ("unsigned long",      "r w s"),
    "ulonglong": ("unsigned long long", "r w s"),
    "int8":      ("int8_t",             "r s"),
    "int16":     ("int16_t",            "r s"),
    "int32":     ("int32_t",            "r w s"),
    "int64":     ("int64_t",            "r w s"),
    "uint8":     ("uint8_t",            "r s"),
    "uint16":    ("uint16_t",           "r s"),
    "uint32":    ("uint32_t",           "r w s"),
    "uint64":    ("uint64_t",           "r w s"),
    "size":      ("size_t",             "r w s"),
    "ptrdiff":   ("ptrdiff_t",          "r w"),
}
SIZES = (8, 16, 32, 64, 128)


# ------------------------------------------------------------------ typed operations
class Op(NamedTuple):
    name: str      # "@" is where a size goes: put@_signal -> float_put_signal, put16_signal, putmem_signal
    group: str     # the types that carry it
    ret: str
    params: str    # T is the element type
    call: str      # what api/dispatch.hpp and api/host.hpp call it, with its arguments; BYTES is nelems in bytes
    where: str     # hd host and device | s on stream | g warp and block
    doc: str
    untyped: str = ""   # n: also by size, m: also by bytes


MOVE = "T* dest, const T* source, size_t nelems, int pe"
SIGNAL = "T* dest, const T* source, size_t nelems, uint64_t* sig_addr, uint64_t signal, int sig_op, int pe"
TEAM = "nvshmem_team_t team, T* dest, const T* source, size_t nelems"

OPS = [
    Op("p", "r", "void", "T* dest, T value, int pe", "p(dest, value, pe)", "hd s",
       "Stores one element to dest at pe, in one store (1.5, 9.5.3). dest: symmetric. Delivered after quiet."),
    Op("g", "r", "T", "const T* source, int pe", "g(source, pe)", "hd s",
       "Loads one element from source at pe, in one load (1.5, 9.5.6). source: symmetric."),
    Op("put@", "r", "void", MOVE, "put(dest, source, BYTES, pe)", "hd s g",
       "Copies nelems elements to dest at pe (1.5, 9.5.1). dest: symmetric; source may be reused on return. "
       "_warp, _block: called by all threads of the scope with the same arguments.", "n m"),
    Op("get@", "r", "void", MOVE, "get(dest, source, BYTES, pe)", "hd s g",
       "Copies nelems elements from source at pe (1.5, 9.5.4). source: symmetric; dest is filled on return.", "n m"),
    Op("put@_nbi", "r", "void", MOVE, "put_nbi(dest, source, BYTES, pe)", "hd s g",
       "Starts a put (1.5, 9.6.1): source may be reused, and the data are delivered, after quiet.", "n m"),
    Op("get@_nbi", "r", "void", MOVE, "get_nbi(dest, source, BYTES, pe)", "hd s g",
       "Starts a get (1.5, 9.6.2): dest is filled after quiet.", "n m"),
    Op("put@_signal", "r", "void", SIGNAL, "put_signal(dest, source, BYTES, sig_addr, signal, sig_op, pe)", "hd s g",
       "Puts, then updates sig_addr at the same pe by sig_op (NVSHMEM_SIGNAL_SET, _ADD): who sees the signal sees the "
       "data (1.5, 9.8.3). dest, sig_addr: symmetric.", "n m"),
    Op("put@_signal_nbi", "r", "void", SIGNAL, "put_signal_nbi(dest, source, BYTES, sig_addr, signal, sig_op, pe)",
       "hd s g", "Starts a put with signal (1.5, 9.8.4): source may be reused after quiet.", "n m"),
    Op("wait_until", "w", "void", "T* ivar, int cmp, T value", "wait_until(ivar, cmp, value)", "hd s",
       "Waits until the caller's *ivar compares so with value (1.5, 9.9.1); what its writer released is then visible."),
    Op("test", "w", "int", "T* ivar, int cmp, T value", "test(ivar, cmp, value)", "hd",
       "1 if the caller's *ivar compares so with value, else 0 (1.5, 9.9.8)."),
    Op("broadcast@", "r", "int", TEAM + ", int PE_root", "broadcast(team, dest, source, BYTES, PE_root)", "hd s g",
       "Copies source of team member PE_root to dest of every member (1.5, 9.11.6). Called by all members; dest, source: "
       "symmetric. 0 on success.", "m"),
    Op("fcollect@", "r", "int", TEAM, "fcollect(team, dest, source, BYTES)", "hd s g",
       "Concatenates the members' sources, nelems each, in member order in every dest (1.5, 9.11.7).", "m"),
    Op("sum_reduce", "s", "int", TEAM, "sum_reduce(team, dest, source, nelems)", "hd s g",
       "Adds the members' sources element by element into every dest: the same bits everywhere (1.5, 9.11.9)."),
]


# ------------------------------------------------------------------ functions without a type
class Function(NamedTuple):
    name: str
    ret: str
    params: str
    where: str     # h host | hd host and device | g warp and block | s on stream | inline: defined in a header
    call: str      # "" : defined by hand in the library
    doc: str


V = "void"
FUNCTIONS = [
    # --- life of the library
    Function("nvshmem_init", V, "", "h", "",
             "Joins the job (1.5, 9.1.1): called by every PE. A failure is reported and kept for causeway_last_error()."),
    Function("nvshmem_init_thread", "int", "int requested, int* provided", "h", "",
             "nvshmem_init with a thread level (1.5, 9.2.2). 0 on success; *provided is NVSHMEM_THREAD_SERIALIZED."),
    Function("nvshmem_finalize", V, "", "h", "", "Leaves the job (1.5, 9.1.4): completes all work; collective."),
    Function("nvshmem_global_exit", V, "int status", "h", "", "Ends every PE of the job with this status (1.5, 9.1.5)."),
    Function("nvshmem_query_thread", V, "int* provided", "h", "", "The thread level that init granted (1.5, 9.2.3)."),
    Function("nvshmemx_init_attr", "int", "unsigned int flags, nvshmemx_init_attr_t* attributes", "h", "",
             "nvshmem_init by a given way (NVSHMEMX_INIT_WITH_UNIQUEID) with its attributes. 0 on success."),
    Function("nvshmemx_get_uniqueid", "int", "nvshmemx_uniqueid_t* uniqueid", "h", "",
             "Makes a unique id for a job to meet by; pass it to all PEs. Cheap: may be called on every PE."),
    Function("nvshmemx_set_attr_uniqueid_args", "int",
             "const int myrank, const int nranks, const nvshmemx_uniqueid_t* uniqueid, nvshmemx_init_attr_t* attr", "h",
             "", "Fills init attributes for NVSHMEMX_INIT_WITH_UNIQUEID. 0 on success."),
    Function("nvshmemx_init_status", "int", "", "h", "", "How far this PE is initialised: nvshmemx_init_status_t."),
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
             "nvshmem_malloc at a multiple of alignment, a power of two (1.5, 9.3.1)."),
    Function("nvshmem_free", V, "void* ptr", "h", "", "Gives symmetric memory back (1.5, 9.3.1): collective."),
    Function("nvshmem_ptr", "void*", "const void* dest, int pe", "hd", "ptr(dest, pe)",
             "An address by which dest at pe can be loaded and stored directly, or null (1.5, 9.3.5)."),
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
    Function("nvshmem_team_destroy", V, "nvshmem_team_t team", "h", "", "Gives a team back (1.5, 9.4.7)."),
    # --- order
    Function("nvshmem_fence", V, "", "hd", "fence()", "Orders earlier puts to each PE before later ones (1.5, 9.10.1)."),
    Function("nvshmem_quiet", V, "", "hd", "quiet()", "Completes the caller's earlier operations (1.5, 9.10.2)."),
    Function("nvshmemx_quiet_on_stream", V, "cudaStream_t stream", "h", "host::quiet_on_stream(stream)",
             "quiet, when the stream gets there."),
    # --- barriers: team forms answer a status
    Function("nvshmem_barrier", "int", "nvshmem_team_t team", "hd g s", "barrier(team)",
             "Completes the members' operations and meets (1.5, 9.11.3). 0 on success."),
    Function("nvshmem_barrier_all", V, "", "hd g s", "barrier_all()", "nvshmem_barrier of all PEs (1.5, 9.11.1)."),
    Function("nvshmem_team_sync", "int", "nvshmem_team_t team", "hd g s", "team_sync(team)",
             "Meets; shows earlier stores, without completing other operations (1.5, 9.11.4). 0 on success."),
    Function("nvshmem_sync_all", V, "", "hd g s", "sync_all()", "nvshmem_team_sync of all PEs (1.5, 9.11.2)."),
    # --- signals
    Function("nvshmem_signal_fetch", "uint64_t", "uint64_t* sig_addr", "hd", "signal_fetch(sig_addr)",
             "The caller's own signal word (1.5, 9.8.5)."),
    Function("nvshmemx_signal_op", V, "uint64_t* sig_addr, uint64_t signal, int sig_op, int pe", "hd s",
             "signal_op(sig_addr, signal, sig_op, pe)",
             "Updates the signal word at pe (NVSHMEM_SIGNAL_SET, _ADD); ordered by nothing."),
    Function("nvshmem_signal_wait_until", "uint64_t", "uint64_t* sig_addr, int cmp, uint64_t cmp_val", "hd",
             "signal_wait_until(sig_addr, cmp, cmp_val)",
             "Waits until the caller's own signal word compares so; returns the value seen (1.5, 9.9.15)."),
    Function("nvshmemx_signal_wait_until_on_stream", V, "uint64_t* sig_addr, int cmp, uint64_t cmp_value, cudaStream_t stream",
             "h", "host::signal_wait_until_on_stream(sig_addr, cmp, cmp_value, stream)",
             "nvshmem_signal_wait_until, when the stream gets there."),
    # --- launches: inline in api/collective_launch.hpp, since a kernel's address belongs to the unit's CUDA runtime
    Function("nvshmemx_collective_launch", "int",
             "const void* func, dim3 gridDims, dim3 blockDims, void** args, size_t sharedMem, cudaStream_t stream",
             "inline", "",
             "Launches a kernel on every PE such that all of its blocks run at the same time, so that they may wait for "
             "each other and for other PEs. A grid of 0 means the largest such grid. 0 on success."),
    Function("nvshmemx_collective_launch_query_gridsize", "int",
             "const void* func, dim3 blockDims, void** args, size_t sharedMem, int* gridsize", "inline", "",
             "The largest grid that nvshmemx_collective_launch takes for this kernel. 0 on success."),
    # --- ours
    Function("causeway_last_error", "const char*", "", "h", "",
             "The text of the first error that init met, else of this PE's last failed call; empty if none."),
]
