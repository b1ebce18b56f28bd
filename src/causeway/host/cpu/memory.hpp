// Memory of the CPU machine: memfd segments, so neither the size of /dev/shm nor a left-over file matters.
#pragma once
#include <causeway/heap/memory.hpp>

#include <filesystem>

namespace causeway {

/// `pes_on_host`: how many PEs share the memory that is there. `root` stands for "/" where its size is read, for tests.
std::unique_ptr<Memory> make_cpu_memory(int pes_on_host, const std::filesystem::path& root = "/");

}  // namespace causeway
