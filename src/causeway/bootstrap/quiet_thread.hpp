// A thread that no signal of the program is delivered to.
#pragma once
#include <causeway/base/error.hpp>
#include <causeway/base/process_identity.hpp>
#include <pthread.h>
#include <signal.h>

#include <functional>
#include <memory>
#include <system_error>

namespace causeway {

/// Runs `body` with all signals blocked: a program's handlers run on its own threads, where they expect to. The
/// destructor joins, except in a forked child, where there is no such thread: std::thread has no way to say that.
class QuietThread {
 public:
  explicit QuietThread(std::function<void()> body) : maker_(process_identity()) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    auto owned = std::make_unique<std::function<void()>>(std::move(body));
    const int error = pthread_create(&thread_, nullptr, &run, owned.get());
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (error != 0) fail(Status::internal, "cannot start a thread: {}", std::generic_category().message(error));
    (void)owned.release();  // the thread deletes it
  }
  ~QuietThread() {
    if (in_its_process()) pthread_join(thread_, nullptr);
  }
  QuietThread(const QuietThread&) = delete;
  QuietThread& operator=(const QuietThread&) = delete;

  [[nodiscard]] bool in_its_process() const { return process_identity() == maker_; }

 private:
  static void* run(void* body) {
    const std::unique_ptr<std::function<void()>> owned(static_cast<std::function<void()>*>(body));
    (*owned)();
    return nullptr;
  }
  pthread_t thread_{};
  ProcessIdentity maker_;  // (a child may have its parent's pid, in a pid namespace of its own)
};

}  // namespace causeway
