// The end of a process that must not be held up: what it has printed goes out, as far as that is possible.
#pragma once

namespace causeway {

/// Flushes all streams, as fflush(nullptr) does. That waits for every stream that another thread is busy with, and so,
/// if one reads the terminal, for somebody to type: whatever is not flushed after a short while stays.
void flush_output();

}  // namespace causeway
