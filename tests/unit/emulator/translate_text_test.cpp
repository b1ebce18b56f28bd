// The text itself: what is no CUDA comes out as it went in, and lines stay where they were.
#include <causeway/emulator/translate/lexer.hpp>
#include <causeway/emulator/translate/translate.hpp>
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>

#include "translate_harness.hpp"

namespace causeway::translate::test {
namespace {

TEST(TranslateText, StandardHeadersAreUnchanged) {
  const std::string text = preprocessed(R"(
#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <thread>
#include <vector>
int main() {
  std::vector<std::vector<std::map<int, std::string>>> v;
  return 1'000 >> 3 << 2 ? 0x1p+3 > .5e-1 : v.size();
}
)");
  ASSERT_GT(text.size(), 500'000U);
  EXPECT_TRUE(translated(text) == text);
}

TEST(TranslateText, StandardHeadersAreUnchangedByKernelsOfTheSameNames) {
  const std::string kernels =
      "# 1 \"u.cu\"\n__global__ void consume(); __global__ void first(); __global__ void second(); __global__ void "
      "equal(); __global__ void relaxed(); __global__ void value(); __global__ void move();\n";
  const std::string headers =
      preprocessed("#include <algorithm>\n#include <atomic>\n#include <map>\n#include <thread>\n");
  const std::string both = translated(headers + kernels), reversed = translated(kernels + headers);
  EXPECT_TRUE(both.substr(0, headers.size()) == headers);
  EXPECT_TRUE(reversed.substr(reversed.size() - headers.size()) == headers);
}

// Tokens in any order, brackets and literals left open included: the translator must not lose a byte or fall over.
TEST(TranslateText, ArbitraryTokensAreUnchanged) {
  constexpr std::array words = {"(",
                                ")",
                                "[",
                                "]",
                                "{",
                                "}",
                                "<",
                                ">",
                                ">>",
                                ";",
                                ",",
                                "::",
                                "->",
                                "&",
                                "&&",
                                "=",
                                "...",
                                "<=>",
                                "#",
                                "a",
                                "if",
                                "while",
                                "for",
                                "do",
                                "operator",
                                "template",
                                "struct",
                                "enum",
                                "else",
                                "return",
                                "auto",
                                "first",
                                "u8",
                                "1.5e-3",
                                "'x'",
                                "L'y'",
                                "\"s\\\"t\"",
                                "\"open\n",
                                "R\"d( \" )d\"",
                                "/* c */",
                                "// c\n",
                                "\n# 3 \"f.h\" 3\n",
                                "\n#pragma p\n",
                                " ",
                                "\t",
                                "\n"};
  std::mt19937 random(20240611);
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (std::size_t n = random() % 60; n > 0; --n) text += words[random() % words.size()];
    if (text.find("<<<") != std::string::npos) continue;  // only a launch may have that
    ASSERT_EQ(translate(text), text);
  }
}

// The same with CUDA's words: whatever the result is, there is one or a TranslateError, and lines are kept.
TEST(TranslateText, ArbitraryCudaKeepsLines) {
  constexpr std::array words = {"(",
                                ")",
                                "[",
                                "]",
                                "{",
                                "}",
                                "<",
                                ">",
                                ";",
                                ",",
                                "::",
                                "&",
                                "=",
                                "...",
                                "k",
                                "first",
                                "int",
                                "__global__ void k",
                                "__device__",
                                "__host__",
                                "__shared__",
                                "__launch_bounds__(1)",
                                "__align__(8)",
                                "__forceinline__",
                                "extern",
                                "static",
                                "<<<",
                                ">>>",
                                ">>>(1)",
                                "threadIdx",
                                ".x",
                                "while(",
                                "do",
                                "for(;;)",
                                "[=]",
                                "asm",
                                "\"ptx\"",
                                "template<class T>",
                                "operator",
                                "enum",
                                "using",
                                "return",
                                "\n",
                                "\n# 3 \"f.cu\"\n"};
  std::mt19937 random(4711);
  int translations = 0;
  for (int round = 0; round < 5000; ++round) {
    std::string text;
    for (std::size_t n = random() % 50; n > 0; --n) text += std::string(words[random() % words.size()]) + " ";
    try {
      translated(text);
      ++translations;
    } catch (const TranslateError& error) {
      EXPECT_GT(error.line(), 0U);
    }
  }
  EXPECT_GT(translations, 500);
}

TEST(TranslateText, DiagnosticsFollowMarkers) {
  const std::string source =
      "# 1 \"dir/a \\\"b\\\".cu\"\n\n__device__ void f() {\n# 100 \"inc.cuh\" 1\n}\n# 5 \"dir/a.cu\" 2\n"
      "__device__ void g() {\n\n asm(\"x\"); }\n";
  EXPECT_EQ(error_of(source).substr(0, 12), "dir/a.cu:7: ");
  EXPECT_EQ(error_of("# 9 \"q \\\"r\\\\.cu\"\n__device__ void g() { asm(\"x\"); }").substr(0, 11), "q \"r\\.cu:9:");
}

TEST(TranslateText, TokensAndSpaceAreTheWholeText) {
  const std::string text = "a<<<b>>>c // x\n \"\\\"\" u8R\"(\n)\" 0xe+1 1e+1 x<<=2;\n# 4 \"f\" 3 4\n#pragma once\nend";
  const Lexed lexed = lex(text);
  std::string joined;
  for (const Token& token : lexed.tokens) joined += std::string(token.space) + std::string(token.text);
  EXPECT_EQ(joined, text);
  EXPECT_EQ(lexed.tokens[1].text, "<<<");
  EXPECT_FALSE(lexed.tokens[0].system);
  EXPECT_TRUE(lexed.tokens.back().system);
}

}  // namespace
}  // namespace causeway::translate::test
