// The rows of NVSHMEM's variables that are accepted and change nothing, each with the reason. See settings_rows.hpp.
#include <causeway/config/settings_rows.hpp>

namespace causeway {
namespace {

using enum SettingKind;

constexpr std::string_view kFoundAnyway =
    "PEs find each other without it: by `causeway run`, or by the unique id that the program hands out.";
constexpr std::string_view kNoPlugins = "Bootstraps are part of the library, not plug-ins.";
constexpr std::string_view kOneAlgorithm = "Each collective has one algorithm, which needs neither choice nor scratch.";
constexpr std::string_view kOwnShape = "The library chooses the shape of its collective kernels.";
constexpr std::string_view kNoProxy = "There is no proxy: kernels store to peers themselves.";
constexpr std::string_view kNoFlush = "There are no flushes to leave out: peers are reached by load and store.";
constexpr std::string_view kNoVerbs = "There is no transport that drives InfiniBand adapters itself.";
constexpr std::string_view kNoIbgda = "There is no transport that drives network adapters from the GPU.";
constexpr std::string_view kNoLibfabric = "There is no libfabric transport.";

constexpr SettingRow idle(std::string_view name, SettingKind kind, std::string_view standard, std::string_view help,
                          std::string_view words = {}) {
  return {name, kind, SettingEffect::no_effect, standard, help, {}, words};
}

constexpr SettingRow kRows[] = {
    // ---- start
    idle("NVSHMEM_BOOTSTRAP", choice, "PMI", kFoundAnyway, "PMI|MPI|SHMEM|UID|plugin"),
    idle("NVSHMEM_BOOTSTRAP_PMI", choice, "PMI", kFoundAnyway, "PMI|PMI-2|PMIX"),
    idle("NVSHMEM_BOOTSTRAP_PLUGIN", text, "", kNoPlugins),
    idle("NVSHMEM_BOOTSTRAP_MPI_PLUGIN", text, "", kNoPlugins),
    idle("NVSHMEM_BOOTSTRAP_SHMEM_PLUGIN", text, "", kNoPlugins),
    idle("NVSHMEM_BOOTSTRAP_PMI_PLUGIN", text, "", kNoPlugins),
    idle("NVSHMEM_BOOTSTRAP_PMI2_PLUGIN", text, "", kNoPlugins),
    idle("NVSHMEM_BOOTSTRAP_PMIX_PLUGIN", text, "", kNoPlugins),
    idle("NVSHMEM_BOOTSTRAP_UID_PLUGIN", text, "", kNoPlugins),
    idle("NVSHMEM_BOOTSTRAP_TWO_STAGE", boolean, "0",
         "Start never needs a second stage: the heap is made on first use."),
    idle("NVSHMEM_BOOTSTRAP_UID_SESSION_ID", text, "", "A unique id carries its maker's addresses and port."),

    // ---- memory and routes: PEs share memory by descriptors and reach each other by load and store, or not at all
    idle("NVSHMEM_CUMEM_GRANULARITY", size, "512M", "Heap segments are multiples of what the driver recommends."),
    idle("NVSHMEM_DISABLE_CUDA_VMM", boolean, "0",
         "GPU memory is shared by cuMem handles always: the older calls choose their own addresses."),
    idle("NVSHMEM_DISABLE_P2P", boolean, "0", "There is no other way to a peer than load and store."),
    idle("NVSHMEM_DISABLE_NVLS", boolean, "0", "Multicast objects are never used."),
    idle("NVSHMEM_REMOTE_TRANSPORT", choice, "", "There is no network transport: the PEs of a job share a host.",
         "none|ucx|libfabric|ibrc|ibdevx|ibgda"),

    // ---- debugging
    idle("NVSHMEM_INFO_HIDDEN", boolean, "0", "No variable is hidden: `causeway info --settings` shows all."),
    idle("NVSHMEM_DEBUG_SUBSYS", list, "", "NVSHMEM_DEBUG is not divided by subsystem."),
    idle("NVSHMEM_DEBUG_ATTACH_DELAY", integer, "0", "`causeway run --gdb PE` starts a PE under the debugger."),
    idle("NVSHMEM_ENABLE_ERROR_CHECKS", boolean, "0", "Host calls always check their arguments."),
    idle("NVSHMEM_CUDA_PATH", text, "", "The driver's library is found as the dynamic linker finds it."),
    idle("NVSHMEM_NVTX", text, "off", "No NVTX ranges are emitted."),

    // ---- memory
    idle("NVSHMEM_HEAP_KIND", choice, "DEVICE", "The heap is in device memory.", "DEVICE|VIDMEM|SYSMEM"),
    idle("NVSHMEM_MAX_MEMORY_PER_GPU", size, "128G", "The heap grows up to its stride: CAUSEWAY_HEAP_STRIDE."),
    idle("NVSHMEM_CUMEM_HANDLE_TYPE", choice, "FILE_DESCRIPTOR",
         "Memory is shared by file descriptors: the PEs of a job share a host.", "FILE_DESCRIPTOR|FABRIC"),
    idle("NVSHMEM_ENABLE_ALIGNED_MALLOC", boolean, "0", "Every allocation is aligned."),
    idle("NVSHMEM_G_BUF_SIZE", size, "8M", "nvshmem_g needs no buffer."),
    idle("NVSHMEM_G_COALESCING_BUF_SIZE", size, "2M", "nvshmem_g needs no buffer."),
    idle("NVSHMEM_CUDA_LIMIT_STACK_SIZE", size, "",
         "The library leaves the device's stack limit as the program set it."),

    // ---- peers
    idle("NVSHMEM_DISABLE_NVLS_SHARING", boolean, "0", "Multicast objects are never used."),
    idle("NVSHMEM_DISABLE_MNNVL", boolean, "0", "No memory is shared between hosts: the PEs of a job share one."),
    idle("NVSHMEM_BYPASS_ACCESSIBILITY_CHECK", boolean, "0",
         "Every peer's memory is mapped; one that cannot be is an error."),
    idle("NVSHMEM_IGNORE_CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", boolean, "0",
         "PEs that share a GPU have the whole interface, whatever their shares are."),
    idle("NVSHMEM_ASSERT_ATOMICS_SYNC", boolean, "0", kNoFlush),
    idle("NVSHMEM_BYPASS_FLUSH", boolean, "0", kNoFlush),
    idle("NVSHMEM_ENABLE_RAIL_OPT", boolean, "0", kNoVerbs),
    idle("NVSHMEM_MAX_PEER_STREAMS", integer, "", "The library uses a fixed set of private streams."),

    // ---- collectives
    idle("NVSHMEM_DISABLE_NCCL", boolean, "0", "NCCL is never used."),
    idle("NVSHMEM_BARRIER_DISSEM_KVAL", integer, "2", kOneAlgorithm),
    idle("NVSHMEM_BARRIER_TG_DISSEM_KVAL", integer, "2", kOneAlgorithm),
    idle("NVSHMEM_BCAST_ALGO", integer, "", kOneAlgorithm),
    idle("NVSHMEM_BCAST_TREE_KVAL", integer, "", kOneAlgorithm),
    idle("NVSHMEM_REDUCE_ALGO", integer, "", kOneAlgorithm),
    idle("NVSHMEM_REDUCE_RECEXCH_KVAL", integer, "", kOneAlgorithm),
    idle("NVSHMEM_REDUCE_SCRATCH_SIZE", size, "512K", kOneAlgorithm),
    idle("NVSHMEM_REDUCE_NVLS_THRESHOLD", size, "", kOneAlgorithm),
    idle("NVSHMEM_REDMAXLOC_ALGO", integer, "1", kOneAlgorithm),
    idle("NVSHMEM_FCOLLECT_ALGO", integer, "", kOneAlgorithm),
    idle("NVSHMEM_FCOLLECT_LL_THRESHOLD", size, "2K", kOneAlgorithm),
    idle("NVSHMEM_FCOLLECT_LL128_THRESHOLD", size, "", kOneAlgorithm),
    idle("NVSHMEM_FCOLLECT_NVLS_THRESHOLD", size, "", kOneAlgorithm),
    idle("NVSHMEM_REDUCESCATTER_ALGO", integer, "", kOneAlgorithm),
    idle("NVSHMEM_REDUCESCATTER_NVLS_THRESHOLD", size, "", kOneAlgorithm),
    idle("NVSHMEM_FCOLLECT_NTHREADS", integer, "512", kOwnShape),
    idle("NVSHMEM_REDUCESCATTER_NTHREADS", integer, "512", kOwnShape),
    idle("NVSHMEM_REDUCE_NTHREADS", integer, "512", kOwnShape),
    idle("NVSHMEM_MAX_CTAS", integer, "1", kOwnShape),

    // ---- networks
    idle("NVSHMEM_ENABLE_NIC_PE_MAPPING", boolean, "0", kNoVerbs),
    idle("NVSHMEM_HCA_LIST", text, "", kNoVerbs),
    idle("NVSHMEM_HCA_PE_MAPPING", text, "", kNoVerbs),
    idle("NVSHMEM_HCA_PREFIX", text, "mlx5", kNoVerbs),
    idle("NVSHMEM_DISABLE_LOCAL_ONLY_PROXY", boolean, "0", kNoProxy),
    idle("NVSHMEM_PROXY_REQUEST_BATCH_MAX", integer, "32", kNoProxy),
    idle("NVSHMEM_DISABLE_GDRCOPY", boolean, "0", "GDRCopy is never used."),
    idle("NVSHMEM_DISABLE_DATA_DIRECT", boolean, "0", kNoVerbs),
    idle("NVSHMEM_DISABLE_IB_NATIVE_ATOMICS", boolean, "0", kNoVerbs),
    idle("NVSHMEM_IB_DISABLE_DMABUF", boolean, "0", kNoVerbs),
    idle("NVSHMEM_IB_GID_INDEX", integer, "-1", kNoVerbs),
    idle("NVSHMEM_IB_TRAFFIC_CLASS", integer, "", kNoVerbs),
    idle("NVSHMEM_IB_SL", integer, "", kNoVerbs),
    idle("NVSHMEM_IB_ADDR_FAMILY", text, "", kNoVerbs),
    idle("NVSHMEM_IB_ADDR_RANGE", text, "", kNoVerbs),
    idle("NVSHMEM_IB_ROCE_VERSION_NUM", integer, "2", kNoVerbs),
    idle("NVSHMEM_IB_ENABLE_RELAXED_ORDERING", boolean, "1", kNoVerbs),
    idle("NVSHMEM_IB_NUM_RC_PER_DEVICE", integer, "1", kNoVerbs),
    idle("NVSHMEM_QP_DEPTH", integer, "1024", kNoVerbs),
    idle("NVSHMEM_SRQ_DEPTH", integer, "16384", kNoVerbs),
    idle("NVSHMEM_LIBFABRIC_PROVIDER", text, "cxi", kNoLibfabric),
    idle("NVSHMEM_IB_ENABLE_IBGDA", boolean, "0", kNoIbgda),
    idle("NVSHMEM_IBGDA_ENABLE_MULTI_PORT", boolean, "0", kNoIbgda),
    idle("NVSHMEM_IBGDA_NUM_DCT", integer, "2", kNoIbgda),
    idle("NVSHMEM_IBGDA_NUM_DCI", integer, "1", kNoIbgda),
    idle("NVSHMEM_IBGDA_NUM_SHARED_DCI", integer, "1", kNoIbgda),
    idle("NVSHMEM_IBGDA_DCI_MAP_BY", text, "cta", kNoIbgda),
    idle("NVSHMEM_IBGDA_NUM_RC_PER_PE", integer, "2", kNoIbgda),
    idle("NVSHMEM_IBGDA_RC_MAP_BY", text, "cta", kNoIbgda),
    idle("NVSHMEM_IBGDA_FORCE_NIC_BUF_MEMTYPE", text, "gpumem", kNoIbgda),
    idle("NVSHMEM_IBGDA_NUM_REQUESTS_IN_BATCH", integer, "32", kNoIbgda),
    idle("NVSHMEM_IBGDA_NUM_FETCH_SLOTS_PER_DCI", integer, "1024", kNoIbgda),
    idle("NVSHMEM_IBGDA_NUM_FETCH_SLOTS_PER_RC", integer, "1024", kNoIbgda),
    idle("NVSHMEM_IBGDA_NIC_HANDLER", text, "auto", kNoIbgda),
};

}  // namespace

std::span<const SettingRow> idle_rows() { return kRows; }

}  // namespace causeway
