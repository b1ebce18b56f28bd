#include <causeway/bootstrap/job_id.hpp>
#include <fmt/format.h>

namespace causeway {
namespace {

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

std::string to_job_id(const Secret& secret) {
  std::string text;
  for (const std::byte byte : secret) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return text;
}

std::optional<Secret> parse_job_id(std::string_view text) {
  Secret secret;
  if (text.size() != 2 * secret.size()) return std::nullopt;
  for (std::size_t i = 0; i < secret.size(); ++i) {
    const int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    secret[i] = static_cast<std::byte>(high * 16 + low);
  }
  return secret;
}

}  // namespace causeway
