# Conformance programs: each runs as jobs of several sizes and as a job of threads. The table says what is different for
# which.

# causeway_conformance(NAME ...): a row. A program of tests/conformance without a row is as if it said nothing.
#   PES n...              sizes of its jobs (1 2 3 4 7 16)
#   FULL_PES n...         in the acceptance run (1 to 8 and 16)
#   THREADS_ENV X=Y...    for the job of threads: what the program would set, were it alone in its process
#   ARGS word...          what the program is given (--cases); <PES> stands for the size
#   PROCESSES             no job of threads: its PEs make processes of their own
#   LOCK n...             jobs of these sizes take gigabytes: one at a time
#   SAMPLE                in the sanitizers' sample; the others take minutes to build (the acceptance run has them all)
#   TSAN                  under ThreadSanitizer, too: small launches only, as it takes each GPU thread for a thread
macro(causeway_conformance name)
  if(NOT EXISTS ${PROJECT_SOURCE_DIR}/tests/conformance/${name}.cu)
    message(FATAL_ERROR "causeway_conformance(${name}): there is no tests/conformance/${name}.cu")
  endif()
  set(row_${name} ${ARGN})
endmacro()

set(small_heap NVSHMEM_SYMMETRIC_SIZE=8M)
set(with_nodes 1 2 3 4 7 8 16)  # 8: 2 nodes of 4, and 4 of 2

causeway_conformance(meet SAMPLE)
causeway_conformance(memory SAMPLE THREADS_ENV ${small_heap})
causeway_conformance(memory_realloc_register THREADS_ENV ${small_heap})
causeway_conformance(moe PES ${with_nodes} LOCK 16)
causeway_conformance(moe_errors PES ${with_nodes} LOCK 16)
causeway_conformance(moe_low_latency PES ${with_nodes})
causeway_conformance(moe_low_latency_large PES 1 2 4 FULL_PES 1 2 4)  # more take gigabytes
causeway_conformance(moe_masks PES ${with_nodes})
causeway_conformance(moe_streams PES ${with_nodes})
causeway_conformance(order SAMPLE)
causeway_conformance(teams SAMPLE TSAN)
causeway_conformance(teams_failures THREADS_ENV NVSHMEM_MAX_TEAMS=420)
causeway_conformance(uniqueid PROCESSES ARGS ${CMAKE_BINARY_DIR}/tests/unique_id.<PES>)

# add_conformance(NAME row...): the program and its tests.
function(add_conformance name)
  cmake_parse_arguments(ROW "PROCESSES;SAMPLE;TSAN" "" "PES;FULL_PES;THREADS_ENV;ARGS;LOCK" ${ARGN})
  if(ROW_UNPARSED_ARGUMENTS OR ROW_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR
            "causeway_conformance(${name}): cannot read ${ROW_UNPARSED_ARGUMENTS} ${ROW_KEYWORDS_MISSING_VALUES}")
  endif()
  if((CAUSEWAY_TEST_SAMPLE AND NOT CAUSEWAY_TEST_FULL AND NOT ROW_SAMPLE) OR
     (CAUSEWAY_SANITIZE STREQUAL "thread" AND NOT ROW_TSAN))
    return()
  endif()
  causeway_test_program(${name}_conformance tests/conformance/${name}.cu)

  set(pes 1 2 3 4 7 16)
  if(CAUSEWAY_TEST_SAMPLE)
    set(pes 3)
  elseif(CAUSEWAY_TEST_FULL)
    set(pes 1 2 3 4 5 6 7 8 16)
    if(ROW_FULL_PES)
      set(pes ${ROW_FULL_PES})
    endif()
  elseif(ROW_PES)
    set(pes ${ROW_PES})
  endif()
  set(arguments)
  set(launch)
  set(limit 600)
  set(labels conformance)
  if(CAUSEWAY_SANITIZE)
    set(arguments --cases 3)
    list(APPEND labels sample)
    if(CAUSEWAY_SANITIZE STREQUAL "thread" AND NOT ROW_PROCESSES)
      set(launch --threads)  # it sees races between PEs only inside one process
    endif()
  elseif(CAUSEWAY_TEST_FULL)
    set(arguments --cases 300)
    set(limit 1800)  # 16 PEs of the mixture of experts take 9 minutes on two slow cores
  endif()
  if(ROW_ARGS)
    set(arguments ${ROW_ARGS})
  endif()
  foreach(size ${pes})
    set(test conformance.${name}.${size})
    string(REPLACE "<PES>" ${size} words "${arguments}")
    causeway_job_test(${test} tests/${name}_conformance ${size} RUN ${launch}
                       ARGS ${words} LABELS ${labels} TIMEOUT ${limit})
    if(size IN_LIST ROW_LOCK)
      set_tests_properties(${test} PROPERTIES RESOURCE_LOCK memory)
    endif()
  endforeach()
  if(NOT CAUSEWAY_SANITIZE AND NOT ROW_PROCESSES)
    list(TRANSFORM ROW_THREADS_ENV PREPEND "--env;")
    causeway_job_test(conformance.${name}.threads tests/${name}_conformance 4
                       RUN --threads ${ROW_THREADS_ENV} ARGS --cases 5 LABELS conformance)
  endif()
endfunction()

file(GLOB sources CONFIGURE_DEPENDS tests/conformance/*.cu)
foreach(source ${sources})
  cmake_path(GET source STEM name)
  add_conformance(${name} ${row_${name}})
endforeach()

if(CAUSEWAY_TEST_SAMPLE)
  return()
endif()

# ---- the same programs in other ways
foreach(nodes 2 3 4)  # of which 3 is uneven
  causeway_job_test(conformance.moe.nodes.${nodes} tests/moe_conformance 8
                     RUN --nodes ${nodes} ARGS --cases 3 LABELS conformance)
endforeach()

# A GPU that all PEs share, and that holds 32 blocks at a time.
causeway_job_test(conformance.moe_low_latency.small_gpu tests/moe_low_latency_conformance 4
                  RUN --env CAUSEWAY_CPU_DEVICES=1 --env CAUSEWAY_CPU_MULTIPROCESSORS=1
                   ARGS --cases 5 LABELS conformance)

# The launcher, its PEs and a program without it, started without standard streams.
set(launch $<TARGET_FILE:causeway> run -n 3 --timeout 120)
function(add_closed_streams job)
  add_test(NAME conformance.closed_streams.${job}
           COMMAND sh -c "\"$@\" <&- >&- 2>&-" sh ${ARGN} ${CMAKE_BINARY_DIR}/tests/descriptors_conformance)
  set_tests_properties(conformance.closed_streams.${job} PROPERTIES LABELS conformance TIMEOUT 140)
endfunction()
add_closed_streams(processes ${launch})
add_closed_streams(tag ${launch} --tag)
add_closed_streams(threads ${launch} --threads)
add_closed_streams(alone)

# More PEs, and more segments of each, than a PE may have open files.
add_test(NAME conformance.few_open_files
         COMMAND sh -c "ulimit -Sn 24; exec \"$@\"" sh $<TARGET_FILE:causeway> run -n 32 --timeout 120
                 ${CMAKE_BINARY_DIR}/tests/descriptors_conformance)
set_tests_properties(conformance.few_open_files PROPERTIES LABELS conformance TIMEOUT 140)

causeway_job_test(conformance.many_pes.64 tests/many_pes_conformance 64 LABELS conformance)
causeway_job_test(conformance.many_pes.256.threads tests/many_pes_conformance 256 RUN --threads LABELS conformance)
