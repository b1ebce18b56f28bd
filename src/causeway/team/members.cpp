#include <causeway/base/error.hpp>
#include <causeway/team/members.hpp>

#include <algorithm>

namespace causeway {

int number_of(const Members& members, int world_pe) {
  const auto found = std::find(members.begin(), members.end(), world_pe);
  return found == members.end() ? -1 : int(found - members.begin());
}

bool evenly_spaced(const Members& members) {
  for (size_t i = 2; i < members.size(); ++i)
    if (members[i] - members[i - 1] != members[1] - members[0]) return false;
  return true;
}

Members split_strided(const Members& parent, int start, int stride, int size) {
  const int parents = int(parent.size());
  if (size < 1 || size > parents)
    fail(Status::invalid_value, "PE_size is {}: must be 1 to the parent's size {}", size, parents);
  if (start < 0 || start >= parents)
    fail(Status::invalid_value, "PE_start is {}: must be a member of the parent, 0 to {}", start, parents - 1);
  if (stride == 0 && size > 1) fail(Status::invalid_value, "PE_stride is 0: must not be with a PE_size of {}", size);
  const long last = long(start) + long(size - 1) * stride;
  if (last < 0 || last >= parents)
    fail(Status::invalid_value,
         "PE_start {}, PE_stride {}, PE_size {}: the last PE would be {}, the parent has 0 to {}", start, stride, size,
         last, parents - 1);
  Members chosen;
  for (int i = 0; i < size; ++i) chosen.push_back(parent[size_t(start + i * stride)]);
  return chosen;
}

Axes split_2d(const Members& parent, int number, int xrange) {
  if (xrange < 1) fail(Status::invalid_value, "xrange is {}: must be at least 1", xrange);
  const int parents = int(parent.size()), width = std::min(xrange, parents);
  const int row = number / width, column = number % width;
  Axes axes;
  for (int i = row * width; i < std::min((row + 1) * width, parents); ++i) axes.x.push_back(parent[size_t(i)]);
  for (int i = column; i < parents; i += width) axes.y.push_back(parent[size_t(i)]);
  return axes;
}

Members by_number(const std::vector<int>& numbers, int size) {
  Members members(size_t(size), -1);
  for (size_t pe = 0; pe < numbers.size(); ++pe) {
    if (numbers[pe] < 0) continue;
    if (numbers[pe] >= size)
      fail(Status::invalid_value, "PE {} gives pe_idx_in_team {}: must be 0 to npes less 1, {}", pe, numbers[pe],
           size - 1);
    int& taken = members[size_t(numbers[pe])];
    if (taken >= 0)
      fail(Status::invalid_value, "PEs {} and {} both give pe_idx_in_team {}: each must have its own", taken, pe,
           numbers[pe]);
    taken = int(pe);
  }
  const auto missing = std::find(members.begin(), members.end(), -1);
  if (missing != members.end())
    fail(Status::invalid_value, "no PE gives pe_idx_in_team {} of npes {}", missing - members.begin(), size);
  return members;
}

namespace {

/// How many PEs of the same node precede this one.
int number_in_node(const Placement& placement, size_t pe) {
  int before = 0;
  for (size_t other = 0; other < pe; ++other) before += placement.node[other] == placement.node[pe];
  return before;
}

}  // namespace

Members predefined_team(const Placement& placement, int pe, int number) {
  const size_t me = size_t(pe);
  Members members;
  for (size_t other = 0; other < placement.host.size(); ++other) {
    const bool member = number == 0   ? true
                        : number == 1 ? placement.host[other] == placement.host[me]
                        : number == 2 ? placement.node[other] == placement.node[me]
                        : number == 3 ? number_in_node(placement, other) == number_in_node(placement, me)
                                      : false;
    if (member) members.push_back(int(other));
  }
  return members;
}

}  // namespace causeway
