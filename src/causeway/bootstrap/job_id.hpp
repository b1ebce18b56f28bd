// The id of a launcher's job in its environment form: a secret as 32 hexadecimal digits.
#pragma once
#include <causeway/bootstrap/unique_id.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace causeway {

[[nodiscard]] std::string to_job_id(const Secret& secret);
/// Nothing when the text is anything but 32 hexadecimal digits.
[[nodiscard]] std::optional<Secret> parse_job_id(std::string_view text);

}  // namespace causeway
