// Digests: a word that stands for many, the same in every build, on every PE and on the device. They keep no secret.
#pragma once
#include <causeway/base/host_device.hpp>

#include <cstddef>
#include <cstdint>

namespace causeway {

/// The digest of what `digest` stands for and then `word`.
CAUSEWAY_HOST_DEVICE constexpr uint64_t mixed(uint64_t digest, uint64_t word) {
  digest = (digest ^ word) * 0x9e3779b97f4a7c15u;
  return digest ^ (digest >> 29);
}

/// Of nothing yet.
constexpr uint64_t kDigestBegin = 0xcbf29ce484222325u;

/// Of a text, or of bytes.
CAUSEWAY_HOST_DEVICE constexpr uint64_t digest_of(const char* bytes, size_t count) {
  uint64_t digest = kDigestBegin;
  for (size_t i = 0; i < count; ++i) digest = mixed(digest, static_cast<unsigned char>(bytes[i]));
  return digest;
}

}  // namespace causeway
