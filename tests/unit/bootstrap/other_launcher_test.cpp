// Which environments say that another launcher has started several processes.
#include <causeway/bootstrap/other_launcher.hpp>
#include <gtest/gtest.h>

#include <map>

namespace causeway {
namespace {

std::string signs(const std::map<std::string, std::string>& environment) {
  return signs_of_another_launcher([&](const char* name) {
    const auto entry = environment.find(name);
    return entry == environment.end() ? nullptr : entry->second.c_str();
  });
}

TEST(OtherLauncher, SeveralProcessesAreSeen) {
  EXPECT_EQ(signs({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}), "PMI_RANK=0, PMI_SIZE=2");
  EXPECT_EQ(signs({{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"PMIX_RANK", "3"}}),
            "OMPI_COMM_WORLD_RANK=3, OMPI_COMM_WORLD_SIZE=4, PMIX_RANK=3");
  EXPECT_EQ(signs({{"PMIX_RANK", "1"}}), "PMIX_RANK=1");
  EXPECT_EQ(signs({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}), "SLURM_PROCID=0, SLURM_NTASKS=8");
  EXPECT_EQ(signs({{"RANK", "0"}, {"WORLD_SIZE", "2"}}), "RANK=0, WORLD_SIZE=2");
  EXPECT_EQ(signs({{"MPI_LOCALRANKID", "0"}, {"MPI_LOCALNRANKS", "2"}}), "MPI_LOCALRANKID=0, MPI_LOCALNRANKS=2");
}

TEST(OtherLauncher, OneProcessOrNoneIsNoSign) {
  EXPECT_EQ(signs({}), "");
  EXPECT_EQ(signs({{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}), "");
  EXPECT_EQ(signs({{"PMIX_RANK", "0"}}), "");
  EXPECT_EQ(signs({{"SLURM_NTASKS", "8"}}), "");  // an allocation's shell
  EXPECT_EQ(signs({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_STEP_NUM_TASKS", "1"}}), "");
  EXPECT_EQ(signs({{"RANK", "first"}, {"WORLD_SIZE", "many"}}), "");
  EXPECT_EQ(signs({{"RANK", "0"}}), "");
}

}  // namespace
}  // namespace causeway
