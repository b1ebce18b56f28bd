// See strided_set.hpp.
#include <causeway/base/error.hpp>
#include <causeway/team/strided_set.hpp>

namespace causeway {

int StridedSet::member_of(int world_pe) const {
  const int apart = world_pe - first;
  if (stride == 0) return apart == 0 ? 0 : -1;
  if (apart % stride != 0 || apart / stride < 0 || apart / stride >= size) return -1;
  return apart / stride;
}

StridedSet split_strided(const StridedSet& parent, int start, int stride, int size) {
  if (size < 1 || size > parent.size)
    fail(Status::invalid_value, "PE_size is {}: must be 1 to the parent's size {}", size, parent.size);
  if (start < 0 || start >= parent.size)
    fail(Status::invalid_value, "PE_start is {}: must be a member of the parent, 0 to {}", start, parent.size - 1);
  if (stride == 0 && size > 1) fail(Status::invalid_value, "PE_stride is 0: must not be with a PE_size of {}", size);
  const long last = long(start) + long(size - 1) * stride;
  if (last < 0 || last >= parent.size)
    fail(Status::invalid_value,
         "PE_start {}, PE_stride {}, PE_size {}: the last PE would be {}, the parent has 0 to {}", start, stride, size,
         last, parent.size - 1);
  // One member: any stride will do, and 1 divides.
  return {parent.pe(start), size == 1 ? 1 : parent.stride * stride, size};
}

std::optional<StridedSet> as_strided(const std::vector<int>& members) {
  if (members.empty()) return std::nullopt;
  const int stride = members.size() > 1 ? members[1] - members[0] : 1;
  for (size_t i = 1; i < members.size(); ++i)
    if (members[i] - members[i - 1] != stride) return std::nullopt;
  return StridedSet{members[0], stride, int(members.size())};
}

namespace {

/// How many PEs of the same node precede this one.
int place_in_node(const Placement& placement, size_t pe) {
  int before = 0;
  for (size_t other = 0; other < pe; ++other) before += placement.node[other] == placement.node[pe];
  return before;
}

}  // namespace

StridedSet predefined_team(const Placement& placement, int pe, int number) {
  const size_t me = size_t(pe), pes = placement.host.size();
  if (number == 0) return {0, 1, int(pes)};
  std::vector<int> members;
  for (size_t other = 0; other < pes; ++other) {
    const bool member = number == 1   ? placement.host[other] == placement.host[me]
                        : number == 2 ? placement.node[other] == placement.node[me]
                        : number == 3 ? place_in_node(placement, other) == place_in_node(placement, me)
                                      : false;
    if (member) members.push_back(int(other));
  }
  return as_strided(members).value_or(StridedSet{});
}

}  // namespace causeway
