// What a kernel sees of the job: a small record passed by value (our kernels) or held in each unit's constant (the C
// API). It is filled once; whatever changes later (teams, mapped bytes) lies in tables behind it.
#pragma once
#include <cstddef>
#include <cstdint>

namespace causeway {

/// A team as one of its PEs sees it, in one of its two channels: collectives that host threads run never share flags
/// with those of kernels and streams, because a program may well split a team while a stream still reduces over its
/// parent. Member i is world PE first + i * stride, or members[i] where the PEs are not evenly spaced.
struct TeamView {
  int32_t pe = -1;  // the caller's number in the team; -1: the slot is free or the caller no member
  int32_t pes = 0;
  int32_t first = 0, stride = 1;
  uint64_t* inbox = nullptr;         // symmetric: one 128-byte line a team member, where that member's epochs arrive
  uint64_t* epoch = nullptr;         // own: collectives of this team so far; never restarted
  const int32_t* members = nullptr;  // null: evenly spaced; else world PEs by member, then members by world PE (or -1)
};

constexpr int kInboxLineWords = 16;  // 128 bytes: flags of different PEs never share a line

/// Where device code leaves what it cannot report itself: failed checks and waits past their limit (host memory).
/// Behind that of the job lie `pes` words that the host sets when a PE goes: kPeLeft (it said goodbye) or kPeLost.
///
/// Faults are numbered. Fault n + 1 may be written when the host has read n (`read`), by whoever first makes n + 1 of n
/// in `claims`: a word of device memory, since a GPU may have no atomics on the host's. Others go untold.
struct FaultRecord {
  uint32_t read = 0;           // by the host: number of the last fault that it has read
  uint32_t written = 0;        // by the device, last: number of the fault that the rest tells of
  uint32_t* claims = nullptr;  // and behind it, of the job's record, how many waits for lost PEs were printed
  int32_t pe = -1, peer = -1;
  uint64_t heap_offset = 0, expected = 0, seen = 0;
  char operation[64] = {};
  char problem[192] = {};
  uint32_t losses = 0;  // set by the host: PEs of the job that are lost
};

constexpr uint32_t kPeLeft = 1, kPeLost = 2;

struct DeviceWorld {
  uint64_t heap_base = 0;    // heap of PE i: heap_base + i * heap_stride
  uint64_t heap_stride = 0;  // a multiple of 4 GiB where the machine has room
  int32_t pe = -1, pes = 0;  // pes 0: not filled, every access faults
  int32_t teams_max = 0;
  int32_t reserved = 0;
  const TeamView* teams = nullptr;       // by nvshmem_team_t; then, from teams_max on, each team's host channel
  const uint64_t* heap_bytes = nullptr;  // mapped so far: heaps grow
  FaultRecord* faults = nullptr;
  uint64_t wait_report_ns = 0;   // a wait this long says so and goes on
  uint64_t wait_timeout_ns = 0;  // a wait this long ends; 0: never
};

/// Compared when a unit registers: headers and library of different builds must not meet.
constexpr uint64_t kDeviceAbi =
    0xca05e0000000u + 1000000 * sizeof(FaultRecord) + 1000 * sizeof(DeviceWorld) + sizeof(TeamView);

static_assert(sizeof(TeamView) == 40 && sizeof(DeviceWorld) == 72, "the layout is part of the ABI");

}  // namespace causeway
