#include <causeway/base/unique_fd.hpp>
#include <tools/run_elf.hpp>
#include <elf.h>
#include <fcntl.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

namespace causeway {
namespace {

template <class T>
std::vector<T> read_table(int file, std::uint64_t offset, std::uint64_t bytes) {
  constexpr std::uint64_t bytes_max = 4 << 20;  // tables of a damaged file are not believed
  std::vector<T> table(bytes <= bytes_max ? bytes / sizeof(T) : 0);
  const std::size_t wanted = table.size() * sizeof(T);
  if (::pread(file, table.data(), wanted, static_cast<off_t>(offset)) != static_cast<ssize_t>(wanted)) table.clear();
  return table;
}

/// Where in the file the loaded address is.
std::optional<std::uint64_t> file_offset(const std::vector<Elf64_Phdr>& segments, std::uint64_t address) {
  for (const Elf64_Phdr& segment : segments)
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz)
      return segment.p_offset + (address - segment.p_vaddr);
  return std::nullopt;
}

}  // namespace

std::vector<std::string> needed_libraries(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return {};
  const auto header = read_table<Elf64_Ehdr>(file.get(), 0, sizeof(Elf64_Ehdr));
  if (header.empty() || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0 ||
      header[0].e_ident[EI_CLASS] != ELFCLASS64 || header[0].e_phentsize != sizeof(Elf64_Phdr))
    return {};
  const auto segments =
      read_table<Elf64_Phdr>(file.get(), header[0].e_phoff, std::uint64_t{header[0].e_phnum} * sizeof(Elf64_Phdr));
  const auto dynamic =
      std::find_if(segments.begin(), segments.end(), [](const auto& s) { return s.p_type == PT_DYNAMIC; });
  if (dynamic == segments.end()) return {};
  const auto entries = read_table<Elf64_Dyn>(file.get(), dynamic->p_offset, dynamic->p_filesz);

  std::uint64_t strings_at = 0, strings_bytes = 0;
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag == DT_STRTAB) strings_at = entry.d_un.d_ptr;
    if (entry.d_tag == DT_STRSZ) strings_bytes = entry.d_un.d_val;
  }
  const auto offset = file_offset(segments, strings_at);
  if (!offset) return {};
  const auto strings = read_table<char>(file.get(), *offset, strings_bytes);
  std::vector<std::string> names;
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag != DT_NEEDED || entry.d_un.d_val >= strings.size()) continue;
    const char* const name = strings.data() + entry.d_un.d_val;
    names.emplace_back(name, ::strnlen(name, strings.size() - entry.d_un.d_val));
  }
  return names;
}

bool needs_library(const std::vector<std::string>& needed, const std::string& name) {
  return std::any_of(needed.begin(), needed.end(),
                     [&](const std::string& library) { return library == name || library.starts_with(name + "."); });
}

}  // namespace causeway
