// `causeway run`: starts the PEs of a job and stays with them until the last one has ended.
#pragma once

/// argv[0] is "run". Returns the exit status of the command: 0 when every PE ended with 0, else the first other status
/// in time (128 + signal for a death by signal), 124 after --timeout, 2 for a wrong command line, 127 for a program
/// that is not found.
int run_command(int argc, char** argv);
