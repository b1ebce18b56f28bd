// Texts that device code puts together.
#pragma once
#include <causeway/machine/machine.hpp>

#include <cstdint>

namespace causeway {

/// At most Room - 1 characters; what is longer is cut off.
template <int Room>
class Text {
 public:
  CAUSEWAY_HOST_DEVICE const char* get() const { return text_; }

  CAUSEWAY_HOST_DEVICE void add(const char* more) {
    while (*more) add(*more++);
  }
  CAUSEWAY_HOST_DEVICE void add(char one) {
    if (length_ + 1 >= Room) return;
    text_[length_++] = one;
    text_[length_] = 0;
  }
  CAUSEWAY_HOST_DEVICE void add(long long number) {
    if (number < 0) add('-');
    add(number < 0 ? 0 - static_cast<uint64_t>(number) : static_cast<uint64_t>(number), 10);
  }
  CAUSEWAY_HOST_DEVICE void add(uint64_t number, unsigned base) {
    char digits[20];
    int count = 0;
    for (; count == 0 || number != 0; number /= base) digits[count++] = "0123456789abcdef"[number % base];
    while (count > 0) add(digits[--count]);
  }
  /// `form` with the numbers in place of each "{}", or as an address of each "{x}".
  CAUSEWAY_HOST_DEVICE void fill(const char* form, long long first, long long second = 0, long long third = 0,
                                 long long fourth = 0) {
    const long long numbers[] = {first, second, third, fourth};
    for (int next = 0; *form; ++form) {
      const bool address = form[0] == '{' && form[1] == 'x' && form[2] == '}';
      if (!address && !(form[0] == '{' && form[1] == '}')) {
        add(*form);
        continue;
      }
      const long long number = numbers[next < 4 ? next++ : 3];
      if (address) {
        add("0x");
        add(static_cast<uint64_t>(number), 16);
      } else {
        add(number);
      }
      form += address ? 2 : 1;
    }
  }

 private:
  char text_[Room] = {};
  int length_ = 0;
};

}  // namespace causeway
