// What `causeway cc` does once the command line is read. Both return the exit status.
#pragma once
#include <tools/cc_options.hpp>

namespace causeway::cc {

/// Translates CUDA sources and compiles everything with the host compiler.
int build_for_cpu(const Options& options);

/// Runs nvcc with causeway's headers and library.
int build_for_cuda(const Options& options);

}  // namespace causeway::cc
