// The mixture-of-experts buffer of the CPU machine.
#include <causeway/moe/buffer_impl.hpp>
