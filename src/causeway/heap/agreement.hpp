// Errors that all PEs have together: none goes on alone, and none waits for one that has given up.
#pragma once
#include <causeway/base/error.hpp>
#include <causeway/bootstrap/bootstrap.hpp>

#include <optional>
#include <string_view>

namespace causeway {

/// Collective: returns if no PE has an error, else throws on every PE the one of the first that has, with its number.
void agree_on_success(Bootstrap&, const std::optional<Error>& mine, std::string_view step);

/// What `body` throws.
template <class Body>
std::optional<Error> error_in(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return Error(Status::out_of_memory, "no host memory");
  } catch (const std::exception& error) {
    return Error(Status::internal, error.what());
  }
  return std::nullopt;
}

}  // namespace causeway
