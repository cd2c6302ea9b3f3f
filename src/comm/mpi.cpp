#include "comm/mpi.h"

#include <cstdlib>
#include <exception>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include "base/error.h"
#include "comm/group.h"
#include "comm/mpi_nodes.h"
#include "comm/mpi_wire.h"
#include "comm/switchboard.h"

namespace parajoule::comm {
namespace {

void initialize() {
  int before = 0;
  mpi(MPI_Initialized(&before), "MPI_Initialized");
  base::ensure(before == 0, "a process has one MPI world");
  int provided = 0;
  mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  if (provided < MPI_THREAD_FUNNELED)
    throw base::Error(base::Fault::environment,
                      "this MPI does not allow a process to have threads");
}

/// srun without a way to MPI starts each rank as a world of its own, and each would train alone.
void refuse_singletons() {
  int size = 0;
  mpi(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
  const char* tasks = std::getenv("SLURM_STEP_NUM_TASKS");
  const bool by_srun = std::getenv("SLURM_PROCID") && !std::getenv("OMPI_COMM_WORLD_SIZE");
  if (size > 1 || !by_srun || !tasks || std::atoi(tasks) < 2) return;
  throw base::Error(base::Fault::environment,
                    fmt::format("srun started {} processes that do not find each other: each is "
                                "alone in MPI; use srun --mpi=pmix, or mpirun",
                                tasks));
}

Seat take_seat(const Options& options) {
  Settled settled = settle(MPI_COMM_WORLD, options);
  int rank = 0;
  mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  std::vector<int> others;
  for (int other = 0; other < int(settled.nodes.node.size()); ++other)
    if (!settled.node.member_of(other)) others.push_back(other);
  std::unique_ptr<Wire> wire;
  if (settled.nodes.count() > 1) wire = std::make_unique<MpiWire>(MPI_COMM_WORLD, others);
  Memory memory(settled.node.segment(), settled.reserved);
  return {.rank = rank,
          .nodes = std::move(settled.nodes),
          .node = std::move(settled.node),
          .wire = std::move(wire),
          .memory = std::move(memory),
          .options = options};
}

}  // namespace

struct Mpi::Parts {
  explicit Parts(const Options& options) : board(take_seat(options)), world(board) {}
  Switchboard board;
  Group world;
  bool closed = false;
};

Mpi::Mpi(Options options) {
  check(options);
  initialize();
  refuse_singletons();
  parts_ = std::make_unique<Parts>(options);
}

Mpi::~Mpi() {
  if (!parts_->closed) fail("left without closing the world");
}

Communicator& Mpi::world() { return parts_->world; }

void Mpi::run(const std::function<void(Communicator&)>& body) {
  try {
    body(world());
    close();
  } catch (const std::exception& error) {
    fail(error.what());
    throw;
  }
}

void Mpi::fail(std::string_view cause) noexcept {
  Switchboard& board = parts_->board;
  board.fail({board.seat().rank, fmt::format("failed: {}", cause)});
}

void Mpi::abort(int status) noexcept {
  MPI_Abort(MPI_COMM_WORLD, status);
  _exit(status);
}

void Mpi::close() {
  Switchboard& board = parts_->board;
  parts_->world.barrier();
  board.leave();
  if (board.seat().wire) static_cast<MpiWire&>(*board.seat().wire).close();
  parts_->closed = true;
  mpi(MPI_Finalize(), "MPI_Finalize");
}

}  // namespace parajoule::comm
