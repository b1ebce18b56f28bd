// Reductions to all members: every operator and type, from kernels of every scope, from the host and on streams.
#define REDUCTION(NAME, OP) NAME##_##OP##_reduce
#define REDUCTION_SHAPE Shape::reduce
#include "reductions.hpp"

int main(int argc, char** argv) { return conformance::run_reductions(argc, argv, "reductions"); }
