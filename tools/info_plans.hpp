// What choose() says of every kind of operation (config/choose.hpp), as text and as JSON.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

namespace causeway {

/// One line a kind and machine: what streams and hosts do.
std::string plans_text();
/// Each kind, machine and caller with its way, and blocks and threads where it is a kernel.
nlohmann::ordered_json plans_json();

}  // namespace causeway
