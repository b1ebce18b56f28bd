// Memory of GPUs: cuMem segments that peers import by POSIX file descriptor and reach by load and store.
#pragma once
#include <causeway/heap/memory.hpp>

namespace causeway {

/// On `device`, of this process's current context.
std::unique_ptr<Memory> make_cuda_memory(int device);

}  // namespace causeway
