// The mixture-of-experts buffer of the CUDA machine.
#include <causeway/moe/buffer_impl.hpp>
