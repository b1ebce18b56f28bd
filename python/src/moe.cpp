// The mixture-of-experts buffer. A buffer that is destroyed takes the memory of its handles and hooks with it, so it keeps
// track of those that Python holds.
#include "native.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <causeway/moe.hpp>
#include <memory>
#include <vector>

namespace causeway::python {
namespace {

/// What Python holds of a buffer: empty once the buffer is gone.
template <class T>
struct Held {
  T content{};
};
using DispatchHandle = Held<std::shared_ptr<moe::Handle>>;
using LowLatencyHandle = Held<std::shared_ptr<moe::LowLatencyHandle>>;
using Hook = Held<moe::ReceiveHook>;

[[noreturn]] void fail_gone(const char* what) {
  throw std::invalid_argument(std::string(what) + " belongs to a buffer that has been destroyed");
}

template <class T>
class Register {
 public:
  std::shared_ptr<Held<T>> hold(T content) {
    std::erase_if(all_, [](const auto& held) { return held.expired(); });
    auto made = std::make_shared<Held<T>>(Held<T>{std::move(content)});
    all_.push_back(made);
    return made;
  }
  void empty() {
    for (const auto& held : all_)
      if (const auto alive = held.lock()) alive->content = T{};
    all_.clear();
  }

 private:
  std::vector<std::weak_ptr<Held<T>>> all_;
};

/// A handle that is the buffer's own.
template <class T>
std::shared_ptr<Held<std::shared_ptr<T>>> of_buffer(const T& handle) {
  return std::make_shared<Held<std::shared_ptr<T>>>(Held<std::shared_ptr<T>>{{const_cast<T*>(&handle), [](T*) {}}});
}

class Buffer {
 public:
  explicit Buffer(const moe::BufferOptions& options)
      : buffer_(call([&] { return std::make_unique<moe::Buffer>(options); })) {}

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

  [[nodiscard]] std::shared_ptr<DispatchHandle> no_handle() const { return of_buffer(get().no_handle()); }
  [[nodiscard]] std::shared_ptr<LowLatencyHandle> no_low_latency_handle() const {
    return of_buffer(get().no_low_latency_handle());
  }

  nb::tuple dispatch(const moe::Tokens& tokens, int alignment, Address stream, int worst_rows) {
    moe::Received got = call([&] {
      return worst_rows > 0 ? get().dispatch_worst_case(tokens, as_stream(stream), worst_rows)
                            : get().dispatch(tokens, alignment, as_stream(stream));
    });
    return in_python(std::move(got));
  }

  nb::tuple dispatch_again(const DispatchHandle& handle, Address x, Address scales, Address stream) {
    if (!handle.content) fail_gone("handle");
    moe::Received got = call([&] {
      return get().dispatch_again(*handle.content, as_pointer(x), as_pointer<float>(scales), as_stream(stream));
    });
    return in_python(std::move(got));
  }

  void combine(const moe::Results& results, const DispatchHandle& handle, Address out, Address out_weights,
               Address stream) {
    if (!handle.content) fail_gone("handle");
    call([&] {
      get().combine(results, *handle.content, as_pointer(out), as_pointer<float>(out_weights), as_stream(stream));
    });
  }

  nb::tuple low_latency_dispatch(Address x, Address topk_idx, int tokens, int hidden, int topk, moe::Cast cast,
                                 const moe::LowLatencyOutput& out, Address stream, bool with_hook) {
    moe::ReceiveHook hook;
    auto handle = call([&] {
      return get().low_latency_dispatch(as_pointer(x), as_pointer<int64_t>(topk_idx), tokens, hidden, topk, cast, out,
                                        as_stream(stream), with_hook ? &hook : nullptr);
    });
    return nb::make_tuple(low_latency_handles_.hold(std::move(handle)), hold_hook(with_hook, std::move(hook)));
  }

  std::shared_ptr<Hook> low_latency_combine(Address x, Address topk_idx, Address topk_weights,
                                            const LowLatencyHandle& handle, Address out, Address stream,
                                            bool with_hook) {
    if (!handle.content) fail_gone("handle");
    moe::ReceiveHook hook;
    call([&] {
      get().low_latency_combine(as_pointer(x), as_pointer<int64_t>(topk_idx), as_pointer<float>(topk_weights),
                                *handle.content, as_pointer(out), as_stream(stream), with_hook ? &hook : nullptr);
    });
    return hold_hook(with_hook, std::move(hook));
  }

 private:
  nb::tuple in_python(moe::Received&& got) {
    const auto address = [](const void* pointer) { return reinterpret_cast<Address>(pointer); };
    return nb::make_tuple(got.tokens, address(got.x), address(got.scales), address(got.topk_idx),
                          address(got.topk_weights), address(got.origin), address(got.count), got.tokens_of_expert,
                          handles_.hold(std::move(got.handle)));
  }
  std::shared_ptr<Hook> hold_hook(bool wanted, moe::ReceiveHook&& hook) {
    return wanted ? hooks_.hold(std::move(hook)) : nullptr;
  }

  std::unique_ptr<moe::Buffer> buffer_;
  Register<std::shared_ptr<moe::Handle>> handles_;
  Register<std::shared_ptr<moe::LowLatencyHandle>> low_latency_handles_;
  Register<moe::ReceiveHook> hooks_;
};

void run_hook(Hook& hook, Address stream) {
  if (!hook.content) fail_gone("the hook");
  call([&] { hook.content(as_stream(stream)); });
}

void add_records(nb::module_& module) {
  nb::class_<moe::BufferOptions>(module, "BufferOptions")
      .def(nb::init<>())
      .def_rw("team", &moe::BufferOptions::team)
      .def_rw("hidden_max", &moe::BufferOptions::hidden_max)
      .def_rw("topk_max", &moe::BufferOptions::topk_max)
      .def_rw("experts_max", &moe::BufferOptions::experts_max)
      .def_rw("recv_tokens_max", &moe::BufferOptions::recv_tokens_max)
      .def_rw("low_latency_tokens_max", &moe::BufferOptions::low_latency_tokens_max)
      .def_rw("blocks", &moe::BufferOptions::blocks)
      .def_rw("low_latency_blocks", &moe::BufferOptions::low_latency_blocks)
      .def_rw("node_ranks", &moe::BufferOptions::node_ranks)
      .def_rw("low_latency_timeout_s", &moe::BufferOptions::low_latency_timeout_s);
  nb::enum_<moe::Cast>(module, "Cast")
      .value("none", moe::Cast::none)
      .value("fp8", moe::Cast::fp8)
      .value("fp8_rounded", moe::Cast::fp8_rounded)
      .value("fp8_exponent", moe::Cast::fp8_exponent);
  nb::class_<DispatchHandle>(module, "DispatchHandle");
  nb::class_<LowLatencyHandle>(module, "LowLatencyHandle");
  nb::class_<Hook>(module, "Hook").def("__call__", &run_hook);
}

nb::tuple dispatch(Buffer& buffer, Address x, Address scales, Address topk_idx, Address topk_weights, int tokens,
                   int hidden, int topk, int experts, int alignment, Address stream, int worst_rows) {
  const moe::Tokens in{as_pointer(x),
                       as_pointer<float>(scales),
                       as_pointer<int64_t>(topk_idx),
                       as_pointer<float>(topk_weights),
                       tokens,
                       hidden,
                       topk,
                       experts};
  return buffer.dispatch(in, alignment, stream, worst_rows);
}

void combine(Buffer& buffer, Address x, Address weights, Address bias_0, Address bias_1, const DispatchHandle& handle,
             Address out, Address out_weights, Address stream) {
  const moe::Results results{as_pointer(x), as_pointer<float>(weights), {as_pointer(bias_0), as_pointer(bias_1)}};
  buffer.combine(results, handle, out, out_weights, stream);
}

nb::tuple low_latency_dispatch(Buffer& buffer, Address x, Address topk_idx, int tokens, int hidden, int topk,
                               moe::Cast cast, Address out_x, Address out_scales, Address recv_count,
                               Address source_token, Address layout_range, Address recv_total, Address wait_ns,
                               Address stream, bool with_hook) {
  const moe::LowLatencyOutput out{as_pointer(out_x),
                                  as_pointer(out_scales),
                                  as_pointer<int32_t>(recv_count),
                                  as_pointer<int32_t>(source_token),
                                  as_pointer<int64_t>(layout_range),
                                  as_pointer<int32_t>(recv_total),
                                  as_pointer<int64_t>(wait_ns)};
  return buffer.low_latency_dispatch(x, topk_idx, tokens, hidden, topk, cast, out, stream, with_hook);
}

void dispatch_layout(Buffer& buffer, Address topk_idx, int tokens, int topk, int experts, Address tokens_per_rank,
                     Address tokens_per_node, Address tokens_per_expert, Address token_in_rank, Address stream) {
  call([&] {
    buffer.get().dispatch_layout(as_pointer<int64_t>(topk_idx), tokens, topk, experts,
                                 as_pointer<int32_t>(tokens_per_rank), as_pointer<int32_t>(tokens_per_node),
                                 as_pointer<int32_t>(tokens_per_expert), as_pointer<bool>(token_in_rank),
                                 as_stream(stream));
  });
}

}  // namespace

void add_moe(nb::module_& module) {
  add_records(module);
  nb::class_<Buffer>(module, "Buffer")
      .def(nb::init<const moe::BufferOptions&>())
      .def_static("size_hint", [](const moe::BufferOptions& options,
                                  int ranks) { return call([&] { return moe::Buffer::size_hint(options, ranks); }); })
      .def("destroy", &Buffer::destroy)
      .def_prop_ro("rank", [](const Buffer& buffer) { return buffer.get().rank(); })
      .def_prop_ro("ranks", [](const Buffer& buffer) { return buffer.get().ranks(); })
      .def_prop_ro("node_ranks", [](const Buffer& buffer) { return buffer.get().node_ranks(); })
      .def("check", [](Buffer& buffer, Address stream) { call([&] { buffer.get().check(as_stream(stream)); }); })
      .def("no_handle", [](const Buffer& buffer) { return buffer.no_handle(); })
      .def("no_low_latency_handle", [](const Buffer& buffer) { return buffer.no_low_latency_handle(); })
      .def("dispatch_layout", &dispatch_layout)
      .def("dispatch", &dispatch)
      .def("dispatch_again", &Buffer::dispatch_again)
      .def("combine", &combine)
      .def("low_latency_dispatch", &low_latency_dispatch)
      .def("low_latency_combine", &Buffer::low_latency_combine)
      .def("set_masked",
           [](Buffer& buffer, int rank, bool masked, Address stream) {
             call([&] { buffer.get().set_masked(rank, masked, as_stream(stream)); });
           })
      .def("query_mask",
           [](Buffer& buffer, Address mask, Address stream) {
             call([&] { buffer.get().query_mask(as_pointer<int32_t>(mask), as_stream(stream)); });
           })
      .def("clear_mask",
           [](Buffer& buffer, Address stream) { call([&] { buffer.get().clear_mask(as_stream(stream)); }); });
}

}  // namespace causeway::python
