// Where errors that reached the C edge go.
#pragma once
#include <string>

namespace causeway {

/// Keeps `text` as the PE's last error and prints it, with the PE's number, once.
void note_error(const std::string& text);

}  // namespace causeway
