// `causeway info`: what this installation, this host and this environment amount to.
#pragma once

namespace causeway {

/// argv[0] is "info". Returns 0; 1 when the environment holds malformed values, which are then shown; 2 for a wrong
/// command line.
int info_command(int argc, char** argv);

}  // namespace causeway
