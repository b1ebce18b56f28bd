// Frames survive any cutting of the stream; what is no frame is noticed before memory is spent on it.
#include <causeway/bootstrap/wire.hpp>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>

namespace causeway::wire {
namespace {

TEST(Wire, FramesSurviveAnyCutting) {
  std::mt19937 random(11);
  for (int turn = 0; turn < 100; ++turn) {
    std::vector<Bytes> bodies(random() % 8);
    Bytes stream;
    for (Bytes& body : bodies) {
      body.resize(random() % 3000);
      for (std::byte& byte : body) byte = static_cast<std::byte>(random());
      const Bytes frame = FrameWriter(FrameType::all).block(body).finish();
      stream.insert(stream.end(), frame.begin(), frame.end());
    }
    FrameCutter cutter;
    std::size_t seen = 0;
    for (std::span<const std::byte> rest = stream; !rest.empty();) {
      const std::size_t piece = std::min<std::size_t>(rest.size(), 1 + random() % 1000);
      cutter.append(rest.first(piece));
      rest = rest.subspan(piece);
      while (const auto frame = cutter.next(4000)) {
        ASSERT_LT(seen, bodies.size());
        const auto block = FrameReader(frame->body).block();
        EXPECT_EQ(Bytes(block.begin(), block.end()), bodies[seen++]);
      }
    }
    EXPECT_EQ(seen, bodies.size());
  }
}

TEST(Wire, WhatIsNoFrameIsNoticedAtItsFirstBytes) {
  FrameCutter cutter;
  const char text[] = "GET ";
  cutter.append(std::as_bytes(std::span(text, 4)));
  EXPECT_THROW((void)cutter.next(100), Error);
}

TEST(Wire, LengthsAreCheckedOnTheHeader) {
  const FrameHeader header{magic, FrameType::gather, ~std::uint64_t{0}};
  FrameCutter cutter;
  cutter.append(std::as_bytes(std::span(&header, 1)));
  EXPECT_THROW((void)cutter.next(1 << 20), Error);
}

TEST(Wire, FieldsAreNotReadBeyondTheBody) {
  const Bytes frame = FrameWriter(FrameType::gather).value(std::uint64_t{50}).finish();
  FrameReader reader(std::span<const std::byte>{frame}.subspan(sizeof(FrameHeader)));
  EXPECT_THROW((void)reader.block(), Error);  // says 50 bytes, none follow
  FrameReader empty({});
  EXPECT_THROW((void)empty.value<int>(), Error);
}

TEST(Wire, SecretsDifferInAnySingleBit) {
  Secret one{};
  for (std::size_t i = 0; i < one.size(); ++i) one[i] = static_cast<std::byte>(i * 17);
  EXPECT_TRUE(equal_secrets(one, one));
  for (std::size_t bit = 0; bit < 8 * one.size(); ++bit) {
    Secret other = one;
    other[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
    EXPECT_FALSE(equal_secrets(one, other));
  }
}

}  // namespace
}  // namespace causeway::wire
