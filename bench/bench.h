/* SPDX-License-Identifier: MIT */
#ifndef PFB_BENCH_H
#define PFB_BENCH_H

/* Common parts of the benchmark programs. A benchmark is named SUBJECT/.../WHAT/COUNT: WHAT is the measured operation,
 * COUNT the number of instances, pairs, records or the like. A baseline has the same name, but its WHAT is
 * "documented", "typical", "plain", "twin" or "memcpy", and parts in the middle may be missing; report.py finds the
 * baseline of a benchmark by this rule. promises.py lists full names. A benchmark reports items per second; a baseline
 * counts the same items as the benchmark that is compared with it. */
#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <string>

namespace bench
{

/* Random numbers that are the same in every run. The distributions of the C++ library are not used because their
 * results differ between implementations. */
class numbers
{
  public:
    /* Returns a number from low to high, inclusive. The modulo makes small numbers slightly more likely, which does not
     * affect the measurements. */
    uint64_t between(uint64_t low, uint64_t high)
    {
        return low + generator() % (high - low + 1);
    }

  private:
    std::mt19937_64 generator{20240503};
};

/* Registers the benchmark `name`/`count`. */
template <class Function> benchmark::internal::Benchmark *add(const std::string &name, size_t count, Function function)
{
    return benchmark::RegisterBenchmark((name + "/" + std::to_string(count)).c_str(), function);
}

/* Sets the items per second. `items` is the number of items of one iteration. */
inline void count_items(benchmark::State &state, size_t items)
{
    state.SetItemsProcessed(static_cast<int64_t>(items) * static_cast<int64_t>(state.iterations()));
}

/* Runs the registered benchmarks and returns the exit status: 1 if --benchmark_filter matches no benchmark, 2 if an
 * argument is unknown. */
inline int run(int argc, char **argv)
{
    benchmark::AddCustomContext("compiler", __VERSION__);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv))
        return 2;
    size_t ran = benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return ran > 0 ? 0 : 1;
}

} // namespace bench

#endif
