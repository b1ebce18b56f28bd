// Reductions of which every member gets a part: every operator and type, from kernels of every scope, the host,
// streams.
#define REDUCTION(NAME, OP) NAME##_##OP##_reducescatter
#define REDUCTION_SHAPE Shape::reducescatter
#include "reductions.hpp"

int main(int argc, char** argv) { return conformance::run_reductions(argc, argv, "reducescatters"); }
