// Stores that are on their way to a peer (simulator only).
#pragma once
#include <cstddef>
#include <cstring>
#include <vector>

namespace causeway::cpu {

struct PendingStore {
  char* to;
  unsigned bytes;
  char data[16];
  void apply() const { std::memcpy(to, data, bytes); }
  [[nodiscard]] bool overlaps(const char* from, size_t count) const { return from < to + bytes && to < from + count; }
};

struct StoreBuffer {
  std::vector<PendingStore> stores;

  void add(void* to, const void* from, size_t bytes) {
    PendingStore store{static_cast<char*>(to), unsigned(bytes), {}};
    std::memcpy(store.data, from, bytes);
    stores.push_back(store);
  }
  void drain() {
    for (const auto& store : stores) store.apply();
    stores.clear();
  }
  void move_to(StoreBuffer& other) {
    other.stores.insert(other.stores.end(), stores.begin(), stores.end());
    stores.clear();
  }
  [[nodiscard]] bool overlaps(const char* from, size_t bytes) const {
    for (const auto& store : stores)
      if (store.overlaps(from, bytes)) return true;
    return false;
  }
  /// Makes one store visible out of order, unless an earlier one to the same address is still pending.
  bool drain_one(size_t number) {
    const PendingStore store = stores[number];
    for (size_t i = 0; i < number; ++i)
      if (stores[i].overlaps(store.to, store.bytes)) return false;
    store.apply();
    stores.erase(stores.begin() + long(number));
    return true;
  }
};

}  // namespace causeway::cpu
