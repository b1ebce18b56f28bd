// Making unique ids, and what is inside.
#include "jobs.hpp"

#include <causeway/bootstrap/addresses.hpp>

#include <cstdint>
#include <random>
#include <set>

namespace causeway::test {
namespace {

TEST(UniqueIds, AThousandAreAllDifferent) {
  (void)close_unused_hubs();
  std::set<std::vector<std::byte>> secrets;
  std::set<std::uint16_t> ports;
  std::vector<UniqueId> ids;
  // In lots of 250: each costs a descriptor.
  for (int lot = 0; lot < 4; ++lot) {
    ports.clear();
    for (int i = 0; i < 250; ++i) {
      const UniqueId id = create_unique_id();
      EXPECT_TRUE(ports.insert(id.port).second);
      EXPECT_TRUE(secrets.insert({id.secret.begin(), id.secret.end()}).second);
      ids.push_back(id);
    }
    if (lot == 3) break;
    EXPECT_EQ(close_unused_hubs(), 250u);
  }
  // The last ones work, each with its own hub.
  for (const std::size_t which : {ids.size() - 250, ids.size() - 1})
    on_every_pe(2, [&](int pe) { make_bootstrap_unique_id(ids[which], pe, 2, patient())->barrier("meet"); });
  EXPECT_EQ(close_unused_hubs(), 248u);
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
  const UniqueId id = create_unique_id({"", "AF_INET"});
  for (const Address& address : unpack_addresses(id)) EXPECT_EQ(address.family, AF_INET);
  on_every_pe(2, [&](int pe) { make_bootstrap_unique_id(id, pe, 2, patient())->barrier("meet"); });
  const std::string error = error_of([] { (void)create_unique_id({"", "ipv4"}); });
  EXPECT_NE(error.find("NVSHMEM_BOOTSTRAP_UID_SOCK_FAMILY=ipv4"), std::string::npos) << error;
  EXPECT_NE(error.find("AF_INET6"), std::string::npos) << error;
}

TEST(UniqueIds, InterfacesCanBeAskedFor) {
  for (const Address& address : list_addresses({"=lo", ""})) EXPECT_TRUE(address.is_loopback());
  const std::string error = error_of([] { (void)create_unique_id({"nosuch", ""}); });
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
