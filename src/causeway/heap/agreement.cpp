#include <causeway/heap/agreement.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace causeway {

void agree_on_success(Bootstrap& bootstrap, const std::optional<Error>& mine, std::string_view step) {
  std::string card;  // empty: no error; else the status and the text
  if (mine) card = char(mine->status()) + std::string(mine->what());
  const auto all = bootstrap.allgather(std::as_bytes(std::span(card.data(), card.size())), step);
  for (size_t pe = 0; pe < all.size(); ++pe)
    if (!all[pe].empty())
      fail(Status(all[pe][0]), "PE {}: {}", pe,
           std::string_view(reinterpret_cast<const char*>(all[pe].data()) + 1, all[pe].size() - 1));
}

}  // namespace causeway
