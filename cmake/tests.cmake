# Tests: tests/unit mirrors the tree.
find_package(GTest REQUIRED)
include(GoogleTest)
