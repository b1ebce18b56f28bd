// Descriptors from PE to PE, and who else tries to have a say in it.
#include "fd_harness.hpp"

#include <poll.h>
#include <sys/resource.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <barrier>
#include <fstream>
#include <map>
#include <set>

namespace causeway::test {
namespace {

FdExchangeOptions of_process(int pe, std::chrono::milliseconds timeout = 60s) {
  FdExchangeOptions options;
  options.process = process_of(pe);
  options.waits = patient(timeout);
  return options;
}

/// PE `bootstrap.pe()` passes a page with 100 + its number; what it took, by PE.
std::multimap<int, int> exchange(Bootstrap& bootstrap, const FdExchangeOptions& options) {
  const UniqueFd mine = make_page(100 + bootstrap.pe());
  std::multimap<int, int> took;
  exchange_fds(
      bootstrap, mine.get(), [&](int pe, UniqueFd fd) { took.emplace(pe, number_in(fd)); }, "pages", options);
  return took;
}

std::multimap<int, int> all_pages(int pes) {
  std::multimap<int, int> pages;
  for (int pe = 0; pe < pes; ++pe) pages.emplace(pe, 100 + pe);
  return pages;
}

/// The names of all sockets of the descriptor exchange on this host, as any user reads them. (Connections have a line
/// with their socket's name, too.)
std::set<std::string> names_of_sockets() {
  std::set<std::string> names;
  std::ifstream sockets("/proc/net/unix");
  for (std::string line; std::getline(sockets, line);)
    if (const size_t at = line.find("@causeway-"); at != std::string::npos && line.size() == at + 10 + 32)
      names.insert(line.substr(at + 1));
  return names;
}

/// A message with these descriptors to the socket of that name.
void send_to(const std::string& name, const FdMessage& message, const std::vector<int>& fds) {
  const UniqueFd connection(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto bytes = socklen_t(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (::connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), bytes) != 0) return;
  iovec part{const_cast<FdMessage*>(&message), sizeof message};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * 64)] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (!fds.empty()) {
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
    std::memcpy(CMSG_DATA(rights), fds.data(), sizeof(int) * fds.size());
  }
  (void)::sendmsg(connection.get(), &header, MSG_NOSIGNAL);
}

std::string name_of(const FdCard& card) {
  std::string name = "causeway-";
  for (const std::byte byte : card.name) name += fmt::format("{:02x}", int(byte));
  return name;
}

// (Threads of this process have one pid; whether they pass descriptors by sockets is up to the identities they claim.)
TEST(FdExchange, EqualPidsAreNotOneProcess) {
  for (int pes : {1, 2, 5}) {
    LauncherTransport transport(pes);
    on_every_pe(pes, [&](int pe) {
      const auto bootstrap = transport.join(pe, patient());
      const size_t before = open_descriptors(*bootstrap);
      EXPECT_EQ(exchange(*bootstrap, of_process(pe)), all_pages(pes));
      FdExchangeOptions one_process;
      EXPECT_EQ(exchange(*bootstrap, one_process), all_pages(pes));
      EXPECT_EQ(exchange(*bootstrap, of_process(pe / 2)), all_pages(pes));
      EXPECT_EQ(open_descriptors(*bootstrap), before);
    });
  }
}

TEST(FdExchange, AForkedChildIsAnotherProcess) {
  const ProcessIdentity mine = process_identity();
  EXPECT_EQ(mine, process_identity());
  const pid_t child = fork();
  if (child == 0) _exit(process_identity() == mine ? 1 : process_identity() == process_identity() ? 0 : 2);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(FdExchange, WhoKnowsTheNameAloneCannotPassAnything) {
  constexpr int kPes = 3;
  const UniqueFd wrong = make_page(7);
  LauncherTransport transport(kPes);
  std::barrier meddled(kPes);
  on_every_pe(kPes, [&](int pe) {
    // The intruder comes when all sockets are there, and before any PE has sent something.
    Meddled bootstrap(transport.join(pe, patient()), [&](Meddled::Gathered& cards) {
      EXPECT_GE(names_of_sockets().size(), size_t(kPes));
      for (const std::string& name : names_of_sockets())
        for (int other = 0; other < kPes; ++other) {
          FdMessage message{{}, other};
          send_to(name, message, {wrong.get()});
          for (size_t i = 0; i < message.secret.size(); ++i)  // the name is no secret
            message.secret[i] = std::byte(std::stoi("0x" + name.substr(9 + 2 * i, 2), nullptr, 16));
          send_to(name, message, {wrong.get()});
          send_to(name, message, {wrong.get(), wrong.get()});
          send_to(name, message, std::vector<int>(60, wrong.get()));
          send_to(name, message, {});
        }
      // A member's mistake: right in everything, but for a surplus descriptor or a PE that does not exist.
      const FdCard own = card_in(cards[size_t(pe)]);
      send_to(name_of(own), {own.secret, (pe + 1) % kPes}, {wrong.get(), wrong.get()});
      send_to(name_of(own), {own.secret, (pe + 1) % kPes}, std::vector<int>(60, wrong.get()));
      for (int nobody : {-1, kPes, 1 << 30}) send_to(name_of(own), {own.secret, nobody}, {wrong.get()});
      send_to(name_of(own), {own.secret, pe}, {wrong.get()});  // its own is not asked for
      meddled.arrive_and_wait();
    });
    const size_t before = open_descriptors(bootstrap);
    EXPECT_EQ(exchange(bootstrap, of_process(pe)), all_pages(kPes));
    EXPECT_EQ(open_descriptors(bootstrap), before);
  });
}

TEST(FdExchange, ASecondMessageOfAPeIsDropped) {
  LauncherTransport transport(2);
  std::barrier meddled(2);
  on_every_pe(2, [&](int pe) {
    Meddled bootstrap(transport.join(pe, patient()), [&](Meddled::Gathered& cards) {
      const FdCard own = card_in(cards[size_t(pe)]);
      for (int number : {501, 502, 503}) {
        const UniqueFd page = make_page(number);
        send_to(name_of(own), {own.secret, 1 - pe}, {page.get()});
      }
      meddled.arrive_and_wait();
    });
    const size_t before = open_descriptors(bootstrap);
    auto expected = all_pages(2);
    expected.erase(1 - pe);
    expected.emplace(1 - pe, 501);  // the first
    EXPECT_EQ(exchange(bootstrap, of_process(pe)), expected);
    EXPECT_EQ(open_descriptors(bootstrap), before);
  });
}

TEST(FdExchange, CredentialsCountWhereTheyCanBeCompared) {
  FdCard mine, theirs;
  mine.user_namespace = theirs.user_namespace = 11;
  mine.pid_namespace = theirs.pid_namespace = 22;
  theirs.uid = 1000, theirs.pid = 50;
  EXPECT_TRUE(may_be(mine, theirs, 1000, 50));
  EXPECT_TRUE(may_be(mine, theirs, 1000));
  EXPECT_FALSE(may_be(mine, theirs, 1001, 50));
  EXPECT_FALSE(may_be(mine, theirs, 0, 50)) << "not even root";
  EXPECT_FALSE(may_be(mine, theirs, 1000, 51));
  theirs.pid_namespace = 23;  // a container of its own: this process sees another pid
  EXPECT_TRUE(may_be(mine, theirs, 1000, 51));
  EXPECT_FALSE(may_be(mine, theirs, 1001, 51));
  theirs.user_namespace = 12;
  EXPECT_TRUE(may_be(mine, theirs, 65534, 51));
  mine.user_namespace = theirs.user_namespace = 0;  // no /proc
  mine.pid_namespace = theirs.pid_namespace = 0;
  EXPECT_TRUE(may_be(mine, theirs, 65534, 51));
}

/// In a process of its own, of user `uid`; true if `body` returned true.
bool in_child(uid_t uid, const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(setresuid(uid, uid, uid) == 0 && body() ? 0 : 1);
  int status = -1;
  return waitpid(child, &status, 0) == child && status == 0;
}

TEST(FdExchange, EvenTheSecretDoesNotMakeAnotherProcessAPe) {
  FdSocket socket(process_of(0), -1);
  const FdCard& card = socket.card();
  const std::span cards(&card, 1);
  const UniqueFd page = make_page(1);
  const auto send = [&] { return send_to(name_of(card), {card.secret, 0}, {page.get()}), true; };
  EXPECT_TRUE(in_child(geteuid(), send));
  EXPECT_FALSE(socket.try_receive(cards)) << "of another pid";
  if (geteuid() == 0) {
    EXPECT_TRUE(in_child(65534, send));
    EXPECT_FALSE(socket.try_receive(cards)) << "of another user";
  }
  send();
  const auto received = socket.try_receive(cards);
  ASSERT_TRUE(received);
  EXPECT_EQ(number_in(received->fd), 1);
}

TEST(FdExchange, NothingIsSentToAnotherUserBehindAPesName) {
  if (geteuid() != 0) GTEST_SKIP() << "needs two users";
  FdSocket socket(process_of(0), -1);
  const UniqueFd page = make_page(1);
  EXPECT_TRUE(in_child(65534, [&] {  // a PE that takes this socket for one of its own user's
    FdSocket own(process_of(1), -1);
    FdCard other = socket.card();
    other.uid = 65534;
    return error_of([&] { (void)own.try_send(5, other, 0, page.get()); }) ==
           "at the socket of PE 5, which runs as user 65534, is a process of user 0";
  }));
}

/// PE 1 is told another name of PE 0's socket, and so does not reach it.
std::unique_ptr<Bootstrap> misled(std::unique_ptr<Bootstrap> there) {
  const bool here = there->pe() == 1;
  return std::make_unique<Meddled>(std::move(there), [here](Meddled::Gathered& cards) {
    if (here) cards[0][offsetof(FdCard, name)] ^= std::byte{1};
  });
}

TEST(FdExchange, AWaitIsReportedAndEnds) {
  std::string reported;
  LauncherTransport transport(2);
  on_every_pe(2, [&](int pe) {
    const auto bootstrap = misled(transport.join(pe, patient()));
    FdExchangeOptions options = of_process(pe, 1s);
    options.waits.report_after = 20ms;
    options.waits.report = [&](const std::string& text) {
      if (pe == 0) reported = text;
    };
    const std::string error = error_of([&] { (void)exchange(*bootstrap, options); });
    EXPECT_EQ(error, "PE 0: step 'pages': no memory descriptor came from PE 1 within 1 s (CAUSEWAY_BOOTSTRAP_TIMEOUT)");
  });
  EXPECT_NE(reported.find("causeway: PE 0 has waited"), std::string::npos) << reported;
  EXPECT_NE(reported.find("in step 'pages': no memory descriptor came from PE 1"), std::string::npos) << reported;
}

TEST(FdExchange, AnErrorNamesThePeThatCannotBeReached) {
  LauncherTransport transport(2);
  on_every_pe(2, [&](int pe) {
    Meddled bootstrap(transport.join(pe, patient()),
                      [&](Meddled::Gathered& cards) { cards[size_t(1 - pe)][offsetof(FdCard, name)] ^= std::byte{1}; });
    const std::string error = error_of([&] { (void)exchange(bootstrap, of_process(pe)); });
    EXPECT_NE(error.find("PE 0: PE 1 cannot be passed a memory descriptor: nobody listens"), std::string::npos)
        << error;
  });
}

TEST(FdExchange, AnErrorOfOneTakerIsThatOfAll) {
  LauncherTransport transport(3);
  on_every_pe(3, [&](int pe) {
    const auto bootstrap = transport.join(pe, patient());
    const UniqueFd mine = make_page(0);
    const std::string error = error_of([&] {
      const auto take = [&](int from, UniqueFd) {
        if (pe == 2 && from == 1) fail(Status::out_of_memory, "no room for that of PE {}", from);
      };
      exchange_fds(*bootstrap, mine.get(), take, "pages", of_process(pe));
    });
    EXPECT_EQ(error, "PE 2: no room for that of PE 1");
    EXPECT_EQ(exchange(*bootstrap, of_process(pe)), all_pages(3)) << "the next one works";
  });
}

/// This process may open `left` more files, until the end of this object.
class FewFiles {
 public:
  explicit FewFiles(int left) {
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit low{200, before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
    for (UniqueFd filler(memfd_create("filler", 0)); filler; filler.reset(memfd_create("filler", 0)))
      fillers_.push_back(std::move(filler));
    fillers_.resize(fillers_.size() - size_t(left));
  }
  ~FewFiles() { EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before_), 0); }
  FewFiles(const FewFiles&) = delete;
  FewFiles& operator=(const FewFiles&) = delete;

 private:
  rlimit before_{};
  std::vector<UniqueFd> fillers_;
};

TEST(FdExchange, TooManyOpenFilesAreSaidWithTheLimit) {
  std::optional<FewFiles> few;
  LauncherTransport transport(2);
  on_every_pe(2, [&](int pe) {
    Meddled bootstrap(transport.join(pe, patient()), [&](Meddled::Gathered&) {
      if (pe == 0) few.emplace(0);
    });
    const UniqueFd mine = make_page(0);
    const std::string error = error_of([&] {
      exchange_fds(
          bootstrap, mine.get(), [](int, UniqueFd) {}, "pages", of_process(pe));
    });
    EXPECT_NE(error.find("this process has too many open files; at most 200 are allowed (ulimit -n)"),
              std::string::npos)
        << error;
  });
}

TEST(FdExchange, WhoHasNoRoomSaysSoFirst) {
  for (int left : {0, 3}) {
    const FewFiles few(left);
    const std::string error = error_of([] { FdSocket(process_of(0), -1); });
    EXPECT_EQ(error,
              "a Unix socket to pass memory descriptors: this process has too many open files; at most 200 are allowed "
              "(ulimit -n)");
  }
  const FewFiles few(4);
  FdSocket(process_of(0), -1);
}

TEST(FdExchange, ADescriptorThatWasLostIsTold) {
  FdSocket socket(process_of(0), -1);
  const UniqueFd page = make_page(1);
  send_to(name_of(socket.card()), {socket.card().secret, 0}, {page.get()});
  send_to(name_of(socket.card()), {socket.card().secret, 0}, {page.get()});
  {
    const FewFiles few(1);  // for the connection, none for what comes
    const auto received = socket.try_receive(std::span(&socket.card(), 1));
    ASSERT_TRUE(received);
    EXPECT_EQ(received->pe, 0);
    EXPECT_FALSE(received->fd);
  }
  const auto received = socket.try_receive(std::span(&socket.card(), 1));
  ASSERT_TRUE(received);
  EXPECT_EQ(number_in(received->fd), 1);
  EXPECT_FALSE(socket.try_receive(std::span(&socket.card(), 1)));
}

}  // namespace
}  // namespace causeway::test
