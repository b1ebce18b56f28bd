// The mixture-of-experts buffer of the CPU machine.
#include <causeway/moe/buffer_make.hpp>
#include <causeway/moe/buffer_throughput.hpp>

#include <causeway/moe/buffer_low_latency.hpp>
