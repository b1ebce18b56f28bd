// Signs that another launcher than `causeway run` has started this process as one of several.
#pragma once
#include <functional>
#include <string>

namespace causeway {

/// "PMI_RANK=0, PMI_SIZE=2": the variables of another launcher that say there are several processes; empty if none do.
/// `get` is getenv().
[[nodiscard]] std::string signs_of_another_launcher(const std::function<const char*(const char*)>& get);

}  // namespace causeway
