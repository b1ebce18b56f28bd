#include <causeway/bootstrap/flush_output.hpp>
#include <causeway/bootstrap/quiet_thread.hpp>
#include <causeway/bootstrap/socket_io.hpp>
#include <poll.h>

#include <atomic>
#include <cstdio>

namespace causeway {

void flush_output() {
  constexpr auto patience = std::chrono::milliseconds(300);
  static std::atomic<int>& done = *new std::atomic<int>{0};
  try {
    // Standard input is the last in the C library's list: what was opened later, and all output, comes before.
    // (Not joined and so not deleted: it may be busy for as long as the process lives.)
    (void)new QuietThread([] {
      std::fflush(nullptr);
      done = 1;
    });
  } catch (const Error&) {  // no thread to be had
    for (FILE* file : {stdout, stderr})
      if (::ftrylockfile(file) == 0) ::fflush_unlocked(file), ::funlockfile(file);
    return;
  }
  const auto give_up_at = Clock::now() + patience;
  while (done == 0 && Clock::now() < give_up_at) (void)::poll(nullptr, 0, 1);
}

}  // namespace causeway
