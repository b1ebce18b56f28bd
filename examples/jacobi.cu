// Communication inside a computation: heat flow on a plate, whose kernel itself exchanges the rows at its borders.
//
//   jacobi [--nx N] [--ny N] [--iterations N] [--check-every N] [--blocks N] [--dump FILE]
//
// Each PE owns a band of rows, and one more row above and below: the halo, a copy of its neighbours' nearest rows. In a
// sweep every cell becomes the average of its four neighbours. Block 0 does the two rows at the borders and puts them
// into the neighbours' halos, with a signal; the other blocks meanwhile do the inner rows, which need no halo.
//
// The result is compared with a serial run on the host: the same additions in the same order, so the same bits.
#include <cuda_runtime.h>
#include <nvshmem.h>
#include <nvshmemx.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

// A failed call ends the whole job: the other PEs would wait for this one forever.
static void require(bool good, const char* call, const char* why) {
  if (good) return;
  std::fprintf(stderr, "PE %d: %s: %s\n", nvshmem_my_pe(), call, why);
  nvshmem_global_exit(1);
}
#define CHECK(call) check((call), #call)
static void check(cudaError_t error, const char* call) {
  require(error == cudaSuccess, call, cudaGetErrorString(error));
}
static void check(int status, const char* call) { require(status == 0, call, "failed"); }

template <class T>
static T* symmetric(size_t count) {
  void* memory = nvshmem_calloc(count, sizeof(T));
  require(memory != nullptr, "nvshmem_calloc", "out of symmetric memory");
  return static_cast<T*>(memory);
}

// ---------------------------------------------------------------- the sweep

__host__ __device__ inline float average(float left, float right, float above, float below) {
  return 0.25f * ((left + right) + (above + below));
}

// What a PE knows of its band. Rows are counted from its upper halo: 0, then its own 1..rows, then rows + 1.
struct Band {
  int nx, rows;
  int above, below;        // the neighbours, -1 at the plate's ends
  int rows_above;          // how many rows the neighbour above owns: its lower halo is row rows_above + 1
  const uint8_t* is_held;  // cells that keep their temperature
};

// One row, by a whole block. Returns the calling thread's share of the sum of squared changes.
__device__ double relax_row(const Band& band, float* out, const float* in, int row) {
  const int nx = band.nx;
  double change = 0;
  for (int x = threadIdx.x; x < nx; x += blockDim.x) {
    const size_t i = size_t(row) * nx + x;
    if (band.is_held[i]) continue;  // `out` has its temperature from the start
    out[i] = average(in[i - 1], in[i + 1], in[i - nx], in[i + nx]);
    change += double(out[i] - in[i]) * (out[i] - in[i]);
  }
  return change;
}

// Sweep number `sweep` (0, 1, 2, ...) reads the field `in` and writes `out`; the two fields take turns, and the halos'
// signals with them: `seen` belongs to the halos of `in`, `send` to those of `out`; [0] is for the upper halo, [1] for
// the lower one. A signal's value is the number of the sweep that may read the halo.
//
// Nobody overwrites a halo that is still read: a neighbour puts into our `out` only after it has seen our border row of
// the sweep before. We sent that row after reading that sweep's halos, and they are the halos of today's `out`.
// For the same reason no signal word has two puts under way.
__global__ void relax(Band band, float* out, const float* in, uint64_t* send, uint64_t* seen, uint64_t sweep,
                      double* total_change) {
  double change = 0;
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      if (band.above >= 0) nvshmem_signal_wait_until(seen + 0, NVSHMEM_CMP_GE, sweep);
      if (band.below >= 0) nvshmem_signal_wait_until(seen + 1, NVSHMEM_CMP_GE, sweep);
    }
    __syncthreads();
    const int nx = band.nx, last = band.rows;
    change += relax_row(band, out, in, 1);
    if (last > 1) change += relax_row(band, out, in, last);
    __syncthreads();  // the rows are whole before they leave

    if (band.above >= 0)
      nvshmemx_float_put_signal_block(out + size_t(band.rows_above + 1) * nx, out + nx, nx, send + 1, sweep + 1,
                                      NVSHMEM_SIGNAL_SET, band.above);
    if (band.below >= 0)
      nvshmemx_float_put_signal_block(out, out + size_t(last) * nx, nx, send + 0, sweep + 1, NVSHMEM_SIGNAL_SET,
                                      band.below);
  } else {
    for (int row = 1 + blockIdx.x; row < band.rows; row += gridDim.x - 1) change += relax_row(band, out, in, row);
  }
  if (total_change == nullptr) return;

  // Add up within the block first: one global addition a block.
  __shared__ double block_change;
  if (threadIdx.x == 0) block_change = 0;
  __syncthreads();
  atomicAdd(&block_change, change);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(total_change, block_change);
}

// ---------------------------------------------------------------- the plate

struct Options {
  int nx = 256, ny = 200, iterations = 400, check_every = 100, blocks = 8;
  std::string dump;
};

// A cold frame, and two spiral arms of discs that get hotter outwards; all of these keep their temperature.
struct Plate {
  std::vector<float> heat;
  std::vector<uint8_t> is_held;
};

static Plate make_plate(int nx, int ny) {
  Plate plate{std::vector<float>(size_t(nx) * ny, 0.f), std::vector<uint8_t>(size_t(nx) * ny, 0)};
  const auto hold = [&](int x, int y, double heat) {
    plate.heat[size_t(y) * nx + x] = float(heat);
    plate.is_held[size_t(y) * nx + x] = 1;
  };
  constexpr int kDiscs = 44;  // in turn on the one and the other arm
  for (int disc = 0; disc < kDiscs; ++disc) {
    const double outwards = (disc + 1.0) / kDiscs, angle = 9 * std::sqrt(outwards) + 3.14159265 * (disc % 2);
    const double at_x = nx * (0.5 + 0.44 * outwards * std::cos(angle));
    const double at_y = ny * (0.5 + 0.44 * outwards * std::sin(angle));
    const double radius = std::min(nx, ny) * (0.01 + 0.02 * outwards);
    for (int y = std::max(0, int(at_y - radius)); y <= std::min(ny - 1, int(at_y + radius)); ++y)
      for (int x = std::max(0, int(at_x - radius)); x <= std::min(nx - 1, int(at_x + radius)); ++x)
        if (std::hypot(x - at_x, y - at_y) <= radius) hold(x, y, 0.3 + 0.7 * outwards);
  }
  for (int y = 0; y < ny; ++y)
    for (int x = 0; x < nx; ++x)
      if (x == 0 || y == 0 || x == nx - 1 || y == ny - 1) hold(x, y, 0);
  return plate;
}

// The same on the host, one cell after the other. *change: the last sweep's.
static std::vector<float> solve_serially(const Plate& plate, const Options& options, double* change) {
  std::vector<float> in = plate.heat, out = plate.heat;
  const size_t nx = options.nx;
  for (int sweep = 0; sweep < options.iterations; ++sweep) {
    *change = 0;
    for (size_t i = 0; i < in.size(); ++i) {
      if (plate.is_held[i]) continue;
      out[i] = average(in[i - 1], in[i + 1], in[i - nx], in[i + nx]);
      *change += double(out[i] - in[i]) * (out[i] - in[i]);
    }
    std::swap(in, out);
  }
  *change = std::sqrt(*change);
  return in;
}

// "FLD1", nx, ny (32 bits each), then ny rows of nx floats; little-endian, as are the machines this runs on.
static bool write_field(const std::string& path, const std::vector<float>& field, int nx, int ny) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return false;
  const uint32_t shape[2] = {uint32_t(nx), uint32_t(ny)};
  bool good = std::fwrite("FLD1", 1, 4, file) == 4 && std::fwrite(shape, sizeof shape, 1, file) == 1;
  good = good && std::fwrite(field.data(), sizeof(float), field.size(), file) == field.size();
  return std::fclose(file) == 0 && good;
}

static bool parse(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc) return false;
    const int value = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--dump") == 0)
      options->dump = argv[i + 1];
    else if (value < 1)
      return false;
    else if (std::strcmp(argv[i], "--nx") == 0)
      options->nx = value;
    else if (std::strcmp(argv[i], "--ny") == 0)
      options->ny = value;
    else if (std::strcmp(argv[i], "--iterations") == 0)
      options->iterations = value;
    else if (std::strcmp(argv[i], "--check-every") == 0)
      options->check_every = value;
    else if (std::strcmp(argv[i], "--blocks") == 0)
      options->blocks = value;
    else
      return false;
  }
  return options->blocks > 1;
}

// ---------------------------------------------------------------- a run

static int first_row(const Options& options, int pe) { return int(int64_t(options.ny) * pe / nvshmem_n_pes()); }

// The cells of the largest band with its halos: symmetric memory has one size everywhere.
static size_t cells_max(const Options& options) {
  const int pes = nvshmem_n_pes();
  return size_t((options.ny + pes - 1) / pes + 2) * options.nx;
}

// The sweeps of this PE. Returns its two fields; (iterations % 2) is the last. *change: the last sweep's, over all PEs.
static float* solve(const Plate& plate, const Options& options, double* change, double* seconds) {
  const int me = nvshmem_my_pe(), pes = nvshmem_n_pes(), nx = options.nx;
  const int first = first_row(options, me);
  Band band{nx, first_row(options, me + 1) - first, me - 1, me + 1 < pes ? me + 1 : -1, 0, nullptr};
  if (me > 0) band.rows_above = first - first_row(options, me - 1);

  const size_t cells = cells_max(options);
  float* fields = symmetric<float>(2 * cells);
  uint64_t* signals = symmetric<uint64_t>(4);  // two for each field
  const int checks = (options.iterations + options.check_every - 1) / options.check_every;
  double* changes = symmetric<double>(2 * size_t(checks));  // this PE's, then everybody's
  uint8_t* is_held = nullptr;
  CHECK(cudaMalloc(&is_held, cells));
  band.is_held = is_held;
  cudaStream_t stream;
  cudaEvent_t start, stop;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));

  // Both fields begin with this band of the plate and its halos, as far as the plate goes.
  const int from = std::max(0, first - 1), to = std::min(options.ny, first + band.rows + 1);
  const size_t count = size_t(to - from) * nx, begin = size_t(from) * nx, skip = size_t(from - (first - 1)) * nx;
  for (int k = 0; k < 2; ++k)
    CHECK(cudaMemcpyAsync(fields + k * cells + skip, plate.heat.data() + begin, count * sizeof(float),
                          cudaMemcpyHostToDevice, stream));
  CHECK(cudaMemcpyAsync(is_held + skip, plate.is_held.data() + begin, count, cudaMemcpyHostToDevice, stream));

  nvshmemx_barrier_all_on_stream(stream);  // all have begun
  CHECK(cudaEventRecord(start, stream));
  for (int sweep = 0; sweep < options.iterations; ++sweep) {
    // The convergence norm, from time to time: after every check_every sweeps, and after the last.
    const bool is_check = (sweep + 1) % options.check_every == 0 || sweep + 1 == options.iterations;
    const int check_index = sweep / options.check_every;
    float *in = fields + (sweep % 2) * cells, *out = fields + ((sweep + 1) % 2) * cells;
    uint64_t *seen = signals + (sweep % 2) * 2, *send = signals + ((sweep + 1) % 2) * 2, number = sweep;
    double* my_change = is_check ? changes + check_index : nullptr;
    void* arguments[] = {&band, &out, &in, &send, &seen, &number, &my_change};
    // Collective, because this kernel waits for those of other PEs.
    CHECK(nvshmemx_collective_launch((const void*)relax, options.blocks, 256, arguments, 0, stream));
    if (is_check)
      CHECK(nvshmemx_double_sum_reduce_on_stream(NVSHMEM_TEAM_WORLD, my_change + checks, my_change, 1, stream));
  }
  CHECK(cudaEventRecord(stop, stream));
  std::vector<double> totals(checks);
  CHECK(cudaMemcpyAsync(totals.data(), changes + checks, checks * sizeof(double), cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  float milliseconds = 0;
  CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
  *seconds = milliseconds / 1e3;
  *change = std::sqrt(totals.back());
  if (me == 0)
    for (int k = 0; k < checks; ++k)
      std::printf("  sweep %5d: change %.3e\n", std::min((k + 1) * options.check_every, options.iterations),
                  std::sqrt(totals[k]));

  CHECK(cudaEventDestroy(stop));
  CHECK(cudaEventDestroy(start));
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFree(is_held));
  nvshmem_free(changes);
  nvshmem_free(signals);
  return fields;
}

// PE 0 fetches everybody's rows; the others take no part in it.
static std::vector<float> gather(const float* field, const Options& options, float* scratch) {
  std::vector<float> all(size_t(options.nx) * options.ny);
  for (int pe = 0; pe < nvshmem_n_pes(); ++pe) {
    const size_t first = first_row(options, pe), count = (first_row(options, pe + 1) - first) * options.nx;
    nvshmem_float_get(scratch, field + options.nx, count, pe);
    CHECK(cudaMemcpy(all.data() + first * options.nx, scratch, count * sizeof(float), cudaMemcpyDeviceToHost));
  }
  return all;
}

// PE 0's verdict: compares with the serial run, and writes the field if asked to.
static bool judge(const std::vector<float>& field, const Plate& plate, const Options& options, double change,
                  double seconds) {
  double serial_change = 0, difference_max = 0;
  const std::vector<float> serial = solve_serially(plate, options, &serial_change);
  for (size_t i = 0; i < field.size(); ++i)
    difference_max = std::max(difference_max, double(std::fabs(field[i] - serial[i])));
  // Fields must agree to the bit. The norm is added up in another order: it may differ in its last digits.
  const bool good = difference_max == 0 && std::fabs(change - serial_change) <= 1e-9 * serial_change;
  const double updates = double(options.nx) * options.ny * options.iterations;
  std::printf("jacobi: %d PEs, %d x %d, %d sweeps in %.3f s (%.0f M cells/s), difference to the serial run %g, %s\n",
              nvshmem_n_pes(), options.nx, options.ny, options.iterations, seconds, updates / seconds / 1e6,
              difference_max, good ? "ok" : "WRONG");
  if (options.dump.empty()) return good;
  if (!write_field(options.dump, field, options.nx, options.ny)) {
    std::perror(options.dump.c_str());
    return false;
  }
  return good;
}

int main(int argc, char** argv) {
  nvshmem_init();
  const int me = nvshmem_my_pe(), pes = nvshmem_n_pes();
  Options options;
  if (!parse(argc, argv, &options) || options.nx < 3 || options.ny < std::max(3, pes)) {
    if (me == 0)
      std::fprintf(stderr,
                   "usage: %s [--nx N] [--ny N] [--iterations N] [--check-every N] [--blocks N] [--dump FILE]\n"
                   "  nx, ny >= 3; ny >= the number of PEs, here %d; blocks >= 2\n",
                   argv[0], pes);
    nvshmem_finalize();
    return 2;
  }
  int devices = 0;
  CHECK(cudaGetDeviceCount(&devices));
  CHECK(cudaSetDevice(nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE) % devices));

  const Plate plate = make_plate(options.nx, options.ny);
  double change = 0, seconds = 0;
  float* fields = solve(plate, options, &change, &seconds);
  const float* last = fields + (options.iterations % 2) * cells_max(options);
  float* scratch = fields + ((options.iterations + 1) % 2) * cells_max(options);

  int* verdict = symmetric<int>(1);
  nvshmem_barrier_all();  // all bands are final
  if (me == 0) {
    const bool good = judge(gather(last, options, scratch), plate, options, change, seconds);
    for (int pe = 0; pe < pes; ++pe) nvshmem_int_p(verdict, good, pe);  // a host writes as easily as a kernel
  }
  nvshmem_barrier_all();
  int good = 0;
  CHECK(cudaMemcpy(&good, verdict, sizeof good, cudaMemcpyDeviceToHost));

  nvshmem_free(verdict);
  nvshmem_free(fields);
  nvshmem_finalize();
  return good ? 0 : 1;
}
