// Tells the user what reading the environment has shown, and where NVSHMEM_DEBUG_FILE wants it.
#include <causeway/config/settings.hpp>
#include <causeway/config/settings_parse.hpp>
#include <causeway/config/topology.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

namespace causeway {

std::string debug_file_path(std::string_view pattern, std::string_view host, int process_id) {
  std::string path;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char next = pattern[i] == '%' && i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (next == 'h')
      path += host;
    else if (next == 'p')
      path += std::to_string(process_id);
    else if (next == '%')
      path += '%';
    else {
      path += pattern[i];
      continue;
    }
    ++i;
  }
  return path;
}

void print_messages(const Settings& settings) {
  const auto close = [](std::FILE* file) { std::fclose(file); };
  std::unique_ptr<std::FILE, decltype(close)> file(nullptr, close);
  if (settings.debug >= DebugLevel::info && !settings.debug_file.empty()) {
    const std::string path = debug_file_path(settings.debug_file, read_host_name(), ::getpid());
    file.reset(std::fopen(path.c_str(), "ae"));
    if (!file)
      fmt::print(stderr, "causeway: NVSHMEM_DEBUG_FILE={}: cannot open {} ({}); messages go to standard error\n",
                 causeway::quoted(settings.debug_file), causeway::quoted(path), std::generic_category().message(errno));
  }
  for (const SettingMessage& message : settings.messages)
    fmt::print(message.is_warning || !file ? stderr : file.get(), "causeway: {}\n", message.text);
}

}  // namespace causeway
