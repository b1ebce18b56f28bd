# Whole jobs beside the conformance programs: jobs that go wrong, seeded runs, and mutants that the seeds must catch.

# ---- jobs that start their own processes, and lose some
foreach(name leaving starting returning staying)
  causeway_test_program(${name}_jobs tests/jobs/${name}.cu)
endforeach()
foreach(name leaving starting)
  causeway_job_test(jobs.${name} tests/${name}_jobs 1 LABELS conformance TIMEOUT 600)
endforeach()
causeway_add_program(giving_up_jobs tests/jobs/giving_up.cu DIRECTORY tests FLAGS -O1 -g1)
causeway_job_test(jobs.giving_up tests/giving_up_jobs 1 RUN --env CAUSEWAY_WAIT_TIMEOUT=10ms
                  LABELS conformance)
causeway_job_test(jobs.giving_up.seed tests/giving_up_jobs 1 RUN --seed 1 --env CAUSEWAY_WAIT_TIMEOUT=10ms
                  LABELS conformance)
foreach(way "" --threads "--seed;1")  # the job must end with 1 and name PE 1
  string(MAKE_C_IDENTIFIER "returning${way}" name)
  add_test(NAME jobs.${name}
           COMMAND ${PROJECT_SOURCE_DIR}/tests/jobs/fails.sh 1 "PE 1 .* 0 without nvshmem_finalize" "PE 1 has ended"
                   $<TARGET_FILE:causeway> run -n 3 --timeout 120 ${way} ${CMAKE_BINARY_DIR}/tests/returning_jobs)
  set_tests_properties(jobs.${name} PROPERTIES LABELS conformance TIMEOUT 140)
endforeach()
add_test(NAME jobs.folders
         COMMAND ${PROJECT_SOURCE_DIR}/tests/jobs/folders.sh $<TARGET_FILE:causeway>
                 ${CMAKE_BINARY_DIR}/tests/staying_jobs)
set_tests_properties(jobs.folders PROPERTIES LABELS conformance TIMEOUT 600)

# ---- seeded runs: the table. causeway_sim(NAME SEEDS quick full PES n... [PLAIN n...]); PLAIN: also without a seed
function(causeway_sim name)
  cmake_parse_arguments(SIM "" "" "SEEDS;PES;PLAIN" ${ARGN})
  list(GET SIM_SEEDS 0 seeds)
  if(CAUSEWAY_TEST_FULL)
    list(GET SIM_SEEDS 1 seeds)
  endif()
  causeway_test_program(${name}_sim tests/sim/${name}.cu)
  foreach(pes ${SIM_PLAIN})
    causeway_job_test(${name}.${pes} tests/${name}_sim ${pes} LABELS conformance)
  endforeach()
  foreach(pes ${SIM_PES})
    causeway_job_test(sim.${name}.${pes} tests/${name}_sim ${pes} RUN --seed ${seeds} LABELS sim TIMEOUT 900)
  endforeach()
endfunction()

causeway_sim(ring SEEDS 1-20 1-1000 PES 2 4)
causeway_sim(barrier SEEDS 1-20 1-1000 PES 2 4)
causeway_sim(collectives SEEDS 1-20 1-200 PES 2 3 4 8)
causeway_sim(entry SEEDS 1-20 1-200 PES 2 4 PLAIN 1 2 3 4 7)  # as it comes it shows no less on a GPU
causeway_sim(moe SEEDS 1-20 1-200 PES 2 3 4)
causeway_sim(moe_blocks SEEDS 1-20 1-200 PES 2 3 4)
causeway_sim(moe_faults SEEDS 1-20 1-200 PES 2 3 4)
causeway_sim(moe_outcome SEEDS 1-20 1-200 PES 2 3 4)
causeway_sim(moe_streams SEEDS 1-20 1-200 PES 2 3 4)
causeway_sim(primitives SEEDS 1-20 1-200 PES 2 3 4)

# ---- mutants: the same programs over a header with one defect; one of the seeds 1 to 100 must fail
file(READ tests/sim/mutants/mutants.json mutants)
string(JSON count LENGTH ${mutants})
math(EXPR last "${count} - 1")
foreach(index RANGE ${last})
  string(JSON full ERROR_VARIABLE none GET ${mutants} ${index} full)  # only in the acceptance run
  if(full STREQUAL "ON" AND NOT CAUSEWAY_TEST_FULL)
    continue()
  endif()
  string(JSON mutant GET ${mutants} ${index} name)
  string(JSON program GET ${mutants} ${index} program)
  string(JSON file GET ${mutants} ${index} file)
  set(overlay ${CMAKE_BINARY_DIR}/mutants/${mutant})
  add_custom_command(
    OUTPUT ${overlay}/causeway/${file}
    COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tests/sim/mutants/mutate.py ${mutant}
            ${PROJECT_SOURCE_DIR} ${overlay}
    DEPENDS tests/sim/mutants/mutate.py tests/sim/mutants/mutants.json src/causeway/${file}
    VERBATIM)
  causeway_test_program(${mutant}_mutant tests/sim/${program}.cu FLAGS -I${overlay} DEPENDS ${overlay}/causeway/${file})
  add_test(NAME mutant.${mutant}
           COMMAND causeway run -n 4 --seed 1-100 --timeout 300 ${CMAKE_BINARY_DIR}/tests/${mutant}_mutant)
  set_tests_properties(mutant.${mutant} PROPERTIES LABELS sim TIMEOUT 320
                       PASS_REGULAR_EXPRESSION "causeway: seed [0-9]+ failed")
endforeach()
