# Whole jobs: conformance programs with 1 to 16 PEs, seeded runs, and mutants that the seeds must catch.
if(CAUSEWAY_TEST_FULL)
  set(case_arguments --cases 300)
  set(seeds 1-1000)
  set(collective_seeds 1-200)
else()
  set(case_arguments)
  set(seeds 1-20)
  set(collective_seeds 1-20)
endif()

# ---- conformance
file(GLOB conformance_sources CONFIGURE_DEPENDS tests/conformance/*.cu)
foreach(source ${conformance_sources})
  cmake_path(GET source STEM name)
  if(CAUSEWAY_TEST_SAMPLE AND NOT CAUSEWAY_TEST_FULL AND NOT name MATCHES "^(meet|memory|order|teams)$")
    continue()  # the typed ones take minutes to build
  endif()
  if(CAUSEWAY_SANITIZE STREQUAL "thread" AND NOT name STREQUAL "teams")
    continue()  # small launches only: ThreadSanitizer takes each GPU thread for a thread
  endif()
  causeway_add_program(${name}_conformance ${source} DIRECTORY tests FLAGS -O1 -g1)  # they are large, and run for seconds
  set(program tests/${name}_conformance)
  if(CAUSEWAY_TEST_SAMPLE)
    set(sizes 3)
  else()
    set(sizes 1 2 3 4 7 16)
    if(name MATCHES "_large$")
      set(sizes 1 2 4)  # more take gigabytes
    elseif(CAUSEWAY_TEST_FULL)
      list(APPEND sizes 5 6 8)
    elseif(name MATCHES "^moe")
      list(APPEND sizes 8)  # 2 nodes of 4, and 4 of 2
    endif()
  endif()
  foreach(pes ${sizes})
    set(labels conformance)
    if(CAUSEWAY_SANITIZE)
      list(APPEND labels sample)
      set(run_arguments)
      if(CAUSEWAY_SANITIZE STREQUAL "thread")
        set(run_arguments --threads)  # it sees races between PEs only inside one process
      endif()
      set(cases --cases 3)
    else()
      set(run_arguments)
      set(cases ${case_arguments})
    endif()
    if(name STREQUAL "uniqueid")
      set(run_arguments)  # PEs of their own make processes of their own
      set(cases ${CMAKE_BINARY_DIR}/tests/unique_id.${pes})
    endif()
    causeway_job_test(conformance.${name}.${pes} ${program} ${pes} RUN ${run_arguments} ARGS ${cases} LABELS ${labels} TIMEOUT 600)
  endforeach()
  if(NOT CAUSEWAY_SANITIZE AND NOT name STREQUAL "uniqueid")
    set(environment)  # what the program would set, were it alone in its process
    if(name MATCHES "^memory")
      set(environment --env NVSHMEM_SYMMETRIC_SIZE=8M --env NVSHMEM_CUMEM_GRANULARITY=2M)
    elseif(name STREQUAL "teams_failures")
      set(environment --env NVSHMEM_MAX_TEAMS=420)
    endif()
    causeway_job_test(conformance.${name}.threads ${program} 4 RUN --threads ${environment} ARGS --cases 5 LABELS conformance)
  endif()
endforeach()

if(CAUSEWAY_TEST_SAMPLE)
  return()
endif()

# ---- jobs that start their own processes, and lose some
foreach(name leaving starting)
  causeway_add_program(${name}_jobs tests/jobs/${name}.cu DIRECTORY tests FLAGS -O1 -g1)
  causeway_job_test(jobs.${name} tests/${name}_jobs 1 LABELS conformance TIMEOUT 600)
endforeach()
foreach(name returning staying)
  causeway_add_program(${name}_jobs tests/jobs/${name}.cu DIRECTORY tests FLAGS -O1 -g1)
endforeach()
foreach(way "" --threads "--seed;1")  # the job must end with 1 and name PE 1
  string(MAKE_C_IDENTIFIER "returning${way}" name)
  add_test(NAME jobs.${name}
           COMMAND ${PROJECT_SOURCE_DIR}/tests/jobs/fails.sh 1 "PE 1 .* 0 without nvshmem_finalize" "PE 1 has ended"
                   $<TARGET_FILE:causeway> run -n 3 --timeout 120 ${way} ${CMAKE_BINARY_DIR}/tests/returning_jobs)
  set_tests_properties(jobs.${name} PROPERTIES LABELS conformance TIMEOUT 140)
endforeach()
add_test(NAME jobs.folders
         COMMAND ${PROJECT_SOURCE_DIR}/tests/jobs/folders.sh $<TARGET_FILE:causeway> ${CMAKE_BINARY_DIR}/tests/staying_jobs)
set_tests_properties(jobs.folders PROPERTIES LABELS conformance TIMEOUT 600)

if(NOT CAUSEWAY_SANITIZE)
  set_tests_properties(conformance.moe.16 conformance.moe_more.16 PROPERTIES RESOURCE_LOCK memory)  # gigabytes each
endif()

foreach(nodes 2 3 4)  # of which 3 is uneven
  causeway_job_test(conformance.moe.nodes.${nodes} tests/moe_conformance 8 RUN --nodes ${nodes} ARGS --cases 3 LABELS conformance)
endforeach()

# A GPU that all PEs share, and that holds 32 blocks at a time.
causeway_job_test(conformance.moe_low_latency.small_gpu tests/moe_low_latency_conformance 4
                  RUN --env CAUSEWAY_CPU_DEVICES=1 --env CAUSEWAY_CPU_MULTIPROCESSORS=1 ARGS --cases 5 LABELS conformance)

# The launcher, its PEs and a program without it, started without standard streams.
foreach(job processes tag threads alone)
  set(words)
  if(NOT job STREQUAL "alone")
    set(words $<TARGET_FILE:causeway> run -n 3 --timeout 120)
    if(NOT job STREQUAL "processes")
      list(APPEND words --${job})
    endif()
  endif()
  add_test(NAME conformance.closed_streams.${job}
           COMMAND sh -c "\"$@\" <&- >&- 2>&-" sh ${words} ${CMAKE_BINARY_DIR}/tests/descriptors_conformance)
  set_tests_properties(conformance.closed_streams.${job} PROPERTIES LABELS conformance TIMEOUT 140)
endforeach()

# More PEs, and more segments of each, than a PE may have open files.
add_test(NAME conformance.few_open_files
         COMMAND sh -c "ulimit -Sn 24; exec \"$@\"" sh $<TARGET_FILE:causeway> run -n 32 --timeout 120
                 ${CMAKE_BINARY_DIR}/tests/descriptors_conformance)
set_tests_properties(conformance.few_open_files PROPERTIES LABELS conformance TIMEOUT 140)

causeway_job_test(conformance.many_pes.64 tests/many_pes_conformance 64 LABELS conformance)
causeway_job_test(conformance.many_pes.256.threads tests/many_pes_conformance 256 RUN --threads LABELS conformance)

# ---- seeded runs
foreach(name ring barrier)
  causeway_add_program(${name}_sim tests/sim/${name}.cu DIRECTORY tests FLAGS -O1 -g1)
  foreach(pes 2 4)
    causeway_job_test(sim.${name}.${pes} tests/${name}_sim ${pes} RUN --seed ${seeds} LABELS sim TIMEOUT 900)
  endforeach()
endforeach()

causeway_add_program(collectives_sim tests/sim/collectives.cu DIRECTORY tests FLAGS -O1 -g1)
foreach(pes 2 3 4 8)
  causeway_job_test(sim.collectives.${pes} tests/collectives_sim ${pes} RUN --seed ${collective_seeds} LABELS sim TIMEOUT 900)
endforeach()

# (Also as it comes, which shows no less on a GPU.)
causeway_add_program(entry_sim tests/sim/entry.cu DIRECTORY tests FLAGS -O1 -g1)
foreach(pes 1 2 3 4 7)
  causeway_job_test(entry.${pes} tests/entry_sim ${pes} LABELS conformance)
endforeach()
foreach(pes 2 4)
  causeway_job_test(sim.entry.${pes} tests/entry_sim ${pes} RUN --seed ${collective_seeds} LABELS sim TIMEOUT 900)
endforeach()

foreach(name moe moe_blocks moe_faults moe_outcome moe_streams primitives)
  causeway_add_program(${name}_sim tests/sim/${name}.cu DIRECTORY tests FLAGS -O1 -g1)
  foreach(pes 2 3 4)
    causeway_job_test(sim.${name}.${pes} tests/${name}_sim ${pes} RUN --seed ${collective_seeds} LABELS sim TIMEOUT 900)
  endforeach()
endforeach()

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
    COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tests/sim/mutants/mutate.py ${mutant} ${PROJECT_SOURCE_DIR} ${overlay}
    DEPENDS tests/sim/mutants/mutate.py tests/sim/mutants/mutants.json src/causeway/${file}
    VERBATIM)
  causeway_add_program(${mutant}_mutant tests/sim/${program}.cu DIRECTORY tests FLAGS -O1 -g1 -I${overlay}
                       DEPENDS ${overlay}/causeway/${file})
  add_test(NAME mutant.${mutant} COMMAND causeway run -n 4 --seed 1-100 --timeout 300 ${CMAKE_BINARY_DIR}/tests/${mutant}_mutant)
  set_tests_properties(mutant.${mutant} PROPERTIES LABELS sim TIMEOUT 320 PASS_REGULAR_EXPRESSION "causeway: seed [0-9]+ failed")
endforeach()
