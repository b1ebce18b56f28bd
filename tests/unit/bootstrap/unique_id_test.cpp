// Making unique ids, and what is inside.
#include "jobs.hpp"

#include <causeway/bootstrap/addresses.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <random>
#include <set>

namespace causeway::test {
namespace {

TEST(UniqueIds, AThousandAreAllDifferentAndTheLastOnesWork) {
  (void)HubService::of_this_process().keep_unused(0);
  std::set<std::vector<std::byte>> secrets;
  std::set<std::uint16_t> ports;
  std::vector<UniqueId> ids;
  for (int i = 0; i < 1000; ++i) {
    const UniqueId id = create_unique_id();
    if (i >= 1000 - int(unused_ids_max)) {
      EXPECT_TRUE(ports.insert(id.port).second);
    }
    EXPECT_TRUE(secrets.insert({id.secret.begin(), id.secret.end()}).second);
    ids.push_back(id);
  }
  for (const std::size_t which : {ids.size() - unused_ids_max, ids.size() - 1})
    on_every_pe(2, [&](int pe) { make_bootstrap_unique_id(ids[which], pe, 2, patient())->barrier("meet"); });
  const auto limit = Clock::now() + 60s;  // (used ones go by themselves)
  while (HubService::of_this_process().size() > unused_ids_max - 2 && Clock::now() < limit)
    std::this_thread::sleep_for(1ms);
  EXPECT_EQ(HubService::of_this_process().keep_unused(0), unused_ids_max - 2);
}

/// Can somebody connect to the id's port at this address?
bool listens(const Address& address, std::uint16_t port) {
  const UniqueFd socket(::socket(address.family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const SocketAddress to = to_socket_address(address, port);
  return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to.storage), to.length) == 0;
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) count += !entry.path().empty();
  return count;
}

TEST(UniqueIds, TheHubListensAtTheIdsAddressesAlone) {
  const std::vector<Address> all = list_addresses({});
  for (const UniqueIdOptions& options : {UniqueIdOptions{"=lo", "", false}, UniqueIdOptions{"", "AF_INET", false}}) {
    const UniqueId id = create_unique_id(options);
    const std::vector<Address> chosen = unpack_addresses(id);
    for (const Address& address : all)
      EXPECT_EQ(listens(address, id.port), std::find(chosen.begin(), chosen.end(), address) != chosen.end())
          << to_text(address, id.port);
  }
}

TEST(UniqueIds, TheHubStopsListeningWhenAllAreThereAndGoesWhenAllHaveLeft) {
  (void)HubService::of_this_process().keep_unused(0);
  const UniqueId id = create_unique_id();
  const Address first = unpack_addresses(id).back();
  EXPECT_TRUE(listens(first, id.port));
  on_every_pe(2, [&](int pe) {
    const auto bootstrap = make_bootstrap_unique_id(id, pe, 2, patient());
    bootstrap->barrier("all are here");
    EXPECT_FALSE(listens(first, id.port));
    bootstrap->barrier("end");
  });
  const auto limit = Clock::now() + 60s;
  while (HubService::of_this_process().size() > 0 && Clock::now() < limit) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(HubService::of_this_process().size(), 0u);
  const std::string error = error_of([&] { (void)make_bootstrap_unique_id(id, 0, 2, patient()); });
  EXPECT_NE(error.find("it serves one job"), std::string::npos) << error;
  EXPECT_EQ(error.find("cannot join the job", error.find("cannot join the job") + 1), std::string::npos) << error;
}

TEST(UniqueIds, JobsOneAfterTheOtherLeaveNothingOpen) {
  std::size_t before = 0;
  for (int job = 0; job < 200; ++job) {
    const UniqueId id = create_unique_id();
    on_every_pe(2, [&](int pe) { make_bootstrap_unique_id(id, pe, 2, patient())->barrier("meet"); });
    const auto limit = Clock::now() + 60s;
    while (HubService::of_this_process().size() > 0 && Clock::now() < limit) std::this_thread::yield();
    if (job == 0) before = open_descriptors();
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(UniqueIds, TheMakerNeedNotBeAMember) {
  const UniqueId id = create_unique_id();
  on_every_pe(3, [&](int pe) { make_bootstrap_unique_id(id, pe, 3, patient())->barrier("meet"); });
}

TEST(UniqueIds, OneThatNobodyMadeIsRefused) {
  const UniqueId zeros{};
  const std::string error = error_of([&] { (void)make_bootstrap_unique_id(zeros, 0, 1); });
  EXPECT_NE(error.find("nvshmemx_get_uniqueid"), std::string::npos) << error;
  UniqueId damaged = create_unique_id();
  damaged.address_bytes = 200;
  EXPECT_NE(error_of([&] { (void)make_bootstrap_unique_id(damaged, 0, 1); }).find("damaged"), std::string::npos);
  EXPECT_NE(error_of([&] { (void)make_bootstrap_unique_id(damaged, 2, 2); }).find("myrank=2"), std::string::npos);
  EXPECT_NE(error_of([&] { (void)make_bootstrap_unique_id(damaged, 0, 0); }).find("nranks=0"), std::string::npos);
}

TEST(UniqueIds, AFamilyCanBeAskedFor) {
  const UniqueId id = create_unique_id({"", "AF_INET", false});
  for (const Address& address : unpack_addresses(id)) EXPECT_EQ(address.family, AF_INET);
  on_every_pe(2, [&](int pe) { make_bootstrap_unique_id(id, pe, 2, patient())->barrier("meet"); });
  const std::string error = error_of([] { (void)create_unique_id({"", "ipv4", false}); });
  EXPECT_NE(error.find("NVSHMEM_BOOTSTRAP_UID_SOCK_FAMILY=ipv4"), std::string::npos) << error;
  EXPECT_NE(error.find("AF_INET6"), std::string::npos) << error;
}

TEST(UniqueIds, InterfacesCanBeAskedFor) {
  for (const Address& address : list_addresses({"=lo", "", false})) EXPECT_TRUE(address.is_loopback());
  const std::string error = error_of([] { (void)create_unique_id({"nosuch", "", false}); });
  EXPECT_NE(error.find("NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME='nosuch'"), std::string::npos) << error;

  EXPECT_TRUE(interface_matches("", "eth0"));
  EXPECT_TRUE(interface_matches("ib,eth", "eth0"));
  EXPECT_FALSE(interface_matches("ib", "eth0"));
  EXPECT_TRUE(interface_matches("=eth1", "eth1"));
  EXPECT_FALSE(interface_matches("=eth1", "eth10"));
  EXPECT_TRUE(interface_matches("eth1", "eth10"));
  EXPECT_FALSE(interface_matches("^docker,=lo", "docker0"));
  EXPECT_FALSE(interface_matches("^docker,=lo", "lo"));
  EXPECT_TRUE(interface_matches("^docker,=lo", "eth0"));
}

TEST(UniqueIds, AsManyAddressesAsFitSurvivePacking) {
  std::mt19937 random(7);
  for (int turn = 0; turn < 200; ++turn) {
    std::vector<Address> addresses;
    for (std::size_t i = random() % 20; i > 0; --i) {
      Address address{random() % 2 == 0 ? AF_INET : AF_INET6, {}};
      for (std::size_t at = 0; at < (address.family == AF_INET ? 4 : 16); ++at)
        address.bytes[at] = static_cast<std::byte>(random());
      if (!address.is_loopback()) addresses.push_back(address);
    }
    Address loopback{AF_INET, {}};
    loopback.bytes[0] = std::byte{127};
    loopback.bytes[3] = std::byte{1};
    addresses.push_back(loopback);

    UniqueId id{};
    pack_addresses(addresses, id);
    const std::vector<Address> unpacked = unpack_addresses(id);
    EXPECT_EQ(unpacked.back(), loopback);
    // A subsequence of what was given, and nothing that would have fitted was left out.
    std::size_t used = 0, at = 0;
    for (const Address& address : addresses) {
      if (at < unpacked.size() && unpacked[at] == address) {
        used += address == loopback ? 1 : address.family == AF_INET ? 5 : 17;
        ++at;
      } else {
        EXPECT_GT(used + (address.family == AF_INET ? 5 : 17), id.addresses.size() - 2);
      }
    }
    EXPECT_EQ(at, unpacked.size());
    EXPECT_EQ(used, id.address_bytes);
  }
}

TEST(UniqueIds, DamagedListsNeverReadBeyondTheirEnd) {
  std::mt19937 random(8);
  for (int turn = 0; turn < 5000; ++turn) {
    UniqueId id{};
    for (std::byte& byte : id.addresses) byte = static_cast<std::byte>(random() % 20);
    id.address_bytes = static_cast<std::uint8_t>(random());
    try {
      EXPECT_FALSE(unpack_addresses(id).empty());
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("damaged"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace causeway::test
