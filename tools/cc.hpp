// `causeway cc`: an nvcc-like compiler driver.
#pragma once

namespace causeway {

/// Compiles and links as the arguments say (argv[0] is "cc"; --help describes them). Returns the
/// exit status: 0, the failed compiler's, or 1 for an error of its own, which it has printed.
int cc_command(int argc, char** argv);

}  // namespace causeway
