// The mixture-of-experts buffer. A buffer that is destroyed takes the memory of its handles and hooks with it, so it
// keeps track of those that Python holds.
#include "moe_arguments.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <vector>

namespace causeway::python {
namespace {

struct Hook {
  moe::ReceiveHook content;
};
struct Received : moe::Received {
  std::shared_ptr<DispatchHandle> held;
};

[[noreturn]] void fail_gone(const char* what) { refuse("{} belongs to a buffer that has been destroyed", what); }

template <class Held>
class Register {
 public:
  std::shared_ptr<Held> hold(Held held) {
    std::erase_if(all_, [](const auto& one) { return one.expired(); });
    auto made = std::make_shared<Held>(std::move(held));
    all_.push_back(made);
    return made;
  }
  void empty() {
    for (const auto& held : all_)
      if (const auto alive = held.lock()) alive->content = {};
    all_.clear();
  }

 private:
  std::vector<std::weak_ptr<Held>> all_;
};

/// A handle that is the buffer's own.
template <class Held, class T>
std::shared_ptr<Held> of_buffer(const T& handle) {
  return std::make_shared<Held>(Held{{const_cast<T*>(&handle), [](T*) {}}});
}

class Buffer {
 public:
  explicit Buffer(const moe::BufferOptions& options)
      : buffer_(call([&] { return std::make_unique<moe::Buffer>(options); })),
        checks_{options, buffer_->ranks(), buffer_->rank(), buffer_->ranks() / buffer_->node_ranks()} {}

  /// The end is collective, so that destroy() alone brings it: a collector of garbage runs when it likes.
  ~Buffer() { (void)buffer_.release(); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void destroy() {
    handles_.empty(), low_latency_handles_.empty(), hooks_.empty();
    call([&] { buffer_.reset(); });
  }

  [[nodiscard]] moe::Buffer& get() const {
    if (!buffer_) fail_gone("the call");
    return *buffer_;
  }
  /// Of the calls' arguments: who has bad ones is to take part all the same, and the package above knows how.
  [[nodiscard]] const BufferChecks& checks() const { return checks_; }

  [[nodiscard]] std::shared_ptr<DispatchHandle> no_handle() const {
    return of_buffer<DispatchHandle>(get().no_handle());
  }
  [[nodiscard]] std::shared_ptr<LowLatencyHandle> no_low_latency_handle() const {
    return of_buffer<LowLatencyHandle>(get().no_low_latency_handle());
  }

  Received dispatch(const moe::Tokens& tokens, int expert_alignment, Address stream) {
    return in_python(tokens, call([&] { return get().dispatch(tokens, expert_alignment, as_stream(stream)); }));
  }
  Received dispatch_worst_case(const moe::Tokens& tokens, int rows, Address stream) {
    return in_python(tokens, call([&] { return get().dispatch_worst_case(tokens, as_stream(stream), rows); }));
  }
  Received dispatch_again(const DispatchHandle& handle, const moe::Tokens& tokens, Address stream) {
    if (!handle.content) fail_gone("handle");
    return {call([&] { return get().dispatch_again(*handle.content, tokens.x, tokens.scales, as_stream(stream)); }),
            nullptr};
  }

  void combine(const moe::Results& results, const DispatchHandle& handle, Address out, Address out_weights,
               Address stream) {
    if (!handle.content) fail_gone("handle");
    call([&] {
      get().combine(results, *handle.content, as_pointer(out), as_pointer<float>(out_weights), as_stream(stream));
    });
  }

  nb::tuple low_latency_dispatch(const moe::Tokens& in, moe::Cast cast, const moe::LowLatencyOutput& output,
                                 Address stream, bool with_hook) {
    moe::ReceiveHook hook;
    auto handle = call([&] {
      return get().low_latency_dispatch(in.x, in.topk_idx, in.tokens, in.hidden, in.topk, cast, output,
                                        as_stream(stream), with_hook ? &hook : nullptr);
    });
    return nb::make_tuple(low_latency_handles_.hold({std::move(handle), in.tokens, in.hidden, in.topk}),
                          hold_hook(with_hook, std::move(hook)));
  }

  std::shared_ptr<Hook> low_latency_combine(const LowLatencyResults& results, const LowLatencyHandle& handle,
                                            Address stream, bool with_hook) {
    if (!handle.content) fail_gone("handle");
    moe::ReceiveHook hook;
    call([&] {
      get().low_latency_combine(results.x, results.topk_idx, results.topk_weights, *handle.content, results.out,
                                as_stream(stream), with_hook ? &hook : nullptr);
    });
    return hold_hook(with_hook, std::move(hook));
  }

 private:
  Received in_python(const moe::Tokens& sent, moe::Received&& got) {
    auto handle = handles_.hold({std::move(got.handle), sent.tokens, sent.hidden, sent.topk, got.tokens});
    return {std::move(got), std::move(handle)};
  }
  std::shared_ptr<Hook> hold_hook(bool wanted, moe::ReceiveHook&& hook) {
    return wanted ? hooks_.hold({std::move(hook)}) : nullptr;
  }

  std::unique_ptr<moe::Buffer> buffer_;
  BufferChecks checks_;
  Register<DispatchHandle> handles_;
  Register<LowLatencyHandle> low_latency_handles_;
  Register<Hook> hooks_;
};

void dispatch_layout(Buffer& buffer, const moe::Tokens& routes, Address tokens_per_rank, Address tokens_per_node,
                     Address tokens_per_expert, Address token_in_rank, Address stream) {
  call([&] {
    buffer.get().dispatch_layout(routes.topk_idx, routes.tokens, routes.topk, routes.experts,
                                 as_pointer<int32_t>(tokens_per_rank), as_pointer<int32_t>(tokens_per_node),
                                 as_pointer<int32_t>(tokens_per_expert), as_pointer<bool>(token_in_rank),
                                 as_stream(stream));
  });
}

void set_masked(Buffer& buffer, nb::handle rank, bool masked, Address stream) {
  const int checked = integer(rank, "rank_to_mask", 0, buffer.get().ranks() - 1, "ranks");
  call([&] { buffer.get().set_masked(checked, masked, as_stream(stream)); });
}
void query_mask(Buffer& buffer, const Array& mask, Address stream) {
  mask.check("int32", {buffer.get().ranks()}, "[ranks]");
  call([&] { buffer.get().query_mask(mask.pointer<int32_t>(), as_stream(stream)); });
}

void run_hook(Hook& hook, Address stream) {
  if (!hook.content) fail_gone("the hook");
  call([&] { hook.content(as_stream(stream)); });
}

/// An address that is there to be read.
template <class Pointer>
auto address_of(Pointer moe::Received::*field) {
  return [field](const Received& received) { return reinterpret_cast<Address>(received.*field); };
}

void add_results(nb::module_& module) {
  nb::class_<DispatchHandle>(module, "DispatchHandle")
      .def_ro("tokens", &DispatchHandle::tokens)
      .def_ro("hidden", &DispatchHandle::hidden)
      .def_ro("topk", &DispatchHandle::topk)
      .def_ro("rows", &DispatchHandle::rows);
  nb::class_<LowLatencyHandle>(module, "LowLatencyHandle")
      .def_ro("tokens", &LowLatencyHandle::tokens)
      .def_ro("hidden", &LowLatencyHandle::hidden)
      .def_ro("topk", &LowLatencyHandle::topk);
  nb::class_<Hook>(module, "Hook").def("__call__", &run_hook);
  nb::class_<Received>(module, "Received")
      .def_ro("tokens", &Received::tokens)
      .def_prop_ro("x", address_of(&moe::Received::x))
      .def_prop_ro("scales", address_of(&moe::Received::scales))
      .def_prop_ro("topk_idx", address_of(&moe::Received::topk_idx))
      .def_prop_ro("topk_weights", address_of(&moe::Received::topk_weights))
      .def_prop_ro("origin", address_of(&moe::Received::origin))
      .def_ro("tokens_of_expert", &Received::tokens_of_expert)
      .def_ro("handle", &Received::held);
}

/// The collective calls, and others that queue work.
void add_calls(nb::class_<Buffer>& buffer) {
  using nb::literals::operator""_a;
  buffer
      .def("dispatch_layout", &dispatch_layout, "routes"_a, "tokens_per_rank"_a, "tokens_per_node"_a,
           "tokens_per_expert"_a, "token_in_rank"_a, "stream"_a)
      .def("dispatch", &Buffer::dispatch, "tokens"_a, "expert_alignment"_a, "stream"_a)
      .def("dispatch_worst_case", &Buffer::dispatch_worst_case, "tokens"_a, "rows"_a, "stream"_a)
      .def("dispatch_again", &Buffer::dispatch_again, "handle"_a, "tokens"_a, "stream"_a)
      .def("combine", &Buffer::combine, "results"_a, "handle"_a, "out"_a = Address(0), "out_weights"_a = Address(0),
           "stream"_a)
      .def("low_latency_dispatch", &Buffer::low_latency_dispatch, "tokens"_a, "cast"_a, "output"_a, "stream"_a,
           "with_hook"_a = false)
      .def("low_latency_combine", &Buffer::low_latency_combine, "results"_a, "handle"_a, "stream"_a,
           "with_hook"_a = false)
      .def("set_masked", &set_masked, nb::arg("rank").none(), "masked"_a, "stream"_a)
      .def("query_mask", &query_mask, "mask"_a, "stream"_a)
      .def(
          "clear_mask", [](Buffer& self, Address stream) { call([&] { self.get().clear_mask(as_stream(stream)); }); },
          "stream"_a);
}

}  // namespace

void add_moe(nb::module_& module) {
  add_moe_records(module);
  add_results(module);
  nb::class_<Buffer> buffer(module, "Buffer");
  buffer.def(nb::init<const moe::BufferOptions&>())
      .def_static("size_hint", [](const moe::BufferOptions& options,
                                  int ranks) { return call([&] { return moe::Buffer::size_hint(options, ranks); }); })
      .def("destroy", &Buffer::destroy)
      .def_prop_ro("rank", [](const Buffer& self) { return self.get().rank(); })
      .def_prop_ro("ranks", [](const Buffer& self) { return self.get().ranks(); })
      .def_prop_ro("node_ranks", [](const Buffer& self) { return self.get().node_ranks(); })
      .def("check", [](Buffer& self, Address stream) { call([&] { self.get().check(as_stream(stream)); }); })
      .def_prop_ro("checks", &Buffer::checks, nb::rv_policy::reference_internal)
      .def("no_handle", [](const Buffer& self) { return self.no_handle(); })
      .def("no_low_latency_handle", [](const Buffer& self) { return self.no_low_latency_handle(); });
  add_calls(buffer);
}

}  // namespace causeway::python
