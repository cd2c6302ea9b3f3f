#!/usr/bin/env python3
"""What a run does when something goes wrong: real ranks, real signals, one case a call.

    faults.py PROGRAM FOLDER CASE     PROGRAM: bin/parajoule; FOLDER: where cases may write
    faults.py --registered CASE...    fails unless these are all the cases
"""

import os
import pathlib
import shutil
import signal
import sys
import time

import checkpoint
from running import Bench, Record, write_picture_files

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import cases  # noqa: E402

DEAD_RANK_SECONDS = 10  # from the death of a rank to the end of the run
FULL_DISK = os.environ.get("PARAJOULE_FULL_DISK", "")  # the library of full_disk.c

# Status of formats: docs/running.md.
DONE, USAGE, ENVIRONMENT, RANK_DIED, BUG, NOT_A_NUMBER, STOPPED = 0, 2, 3, 4, 5, 6, 75


def last_record(bench):
    records = bench.records()
    assert records, "no record"
    return Record(records[-1]).is_whole()


def throws(place, fault, *, rank=1):
    """A rank that throws ends the run, is named with its cause, and what was recorded stays."""
    def case(bench):
        bench.run(fault=f"rank={rank} step=15 kind=throw_{place}").ended_with(
            BUG, f"rank {rank}", f"thrown in {place}")
        record = last_record(bench)
        assert record.state == "failed", record.state
        assert len(record.steps) >= 20, record.steps
    case.__doc__ = fault
    return case


def kills(place, *settings, rank=1):
    """A rank that dies by its own hand at a place ends the run in time and is named."""
    def case(bench):
        run = bench.start(fault=f"rank={rank} step=15 kind=kill_{place}", settings=settings)
        run.wait_for_mark()
        run.end(DEAD_RANK_SECONDS).ended_with(RANK_DIED, f"rank {rank}")
        last_record(bench)
    return case


def dead_while_others_wait(bench):
    """kill -9 of a rank while the other sits in a collective with it."""
    run = bench.start(fault="rank=1 step=15 kind=slow_communication seconds=600")
    run.wait_for_mark()
    time.sleep(1)  # rank 0 goes as far as it can
    os.kill(bench.ranks()[1], signal.SIGKILL)
    run.end(DEAD_RANK_SECONDS).ended_with(RANK_DIED, "rank 1")
    record = last_record(bench)
    assert len(record.steps) >= 20, "what was recorded before the last second is kept"


def hangs(bench):
    """A rank that hangs is named with what it was waited for in, and the run ends."""
    run = bench.start(fault="rank=1 step=15 kind=hang_communication",
                      settings=["stall_seconds=1", "give_up_seconds=3"])
    run.wait_for_mark()
    run.end(3 + DEAD_RANK_SECONDS)
    run.ended_with(RANK_DIED)
    assert "rank 1" in run.text() and "sum" in run.text(), run.text()
    last_record(bench)


def not_a_number(*settings):
    """A loss that is no number on one rank ends all with a status of its own."""
    def case(bench):
        bench.run(fault="rank=1 step=15 kind=nan", settings=settings).ended_with(
            NOT_A_NUMBER, "rank 1", "not a number")
        assert last_record(bench).state == "failed"
    return case


def picture_settings(bench, broken):
    write_picture_files(bench.folder / "pictures", broken)
    return ["data=images", f"images.folder={bench.folder}/pictures", "images.size=8",
            "images.resize=8", "local_batch_size=10", "epochs=2"]


def broken_picture(bench):
    """A picture that a loader thread cannot read ends the run and is named; or is left out."""
    settings = picture_settings(bench, "train/class1/7.png")
    bench.run(settings=settings).ended_with(USAGE, "rank", "class1/7.png")
    assert last_record(bench).state == "failed"
    bench.run(settings=settings + ["on_bad_sample=skip"]).ended_with(DONE)
    record = last_record(bench)
    assert record.state == "done"
    assert any("class1/7.png" in note for note in record.notes), record.notes
    run = bench.run(settings=settings + ["on_bad_sample=replace", "seed=8"]).ended_with(DONE)
    replaced = [note for note in last_record(bench).notes if "7.png" in note]
    assert len(replaced) == 2 and "replaced by sample " in replaced[0], replaced
    assert run.table_line("samples replaced by others") == "2", run.text()


def broken_validation_picture(bench):
    """A picture that cannot be evaluated is left out of the error, counted and named."""
    settings = picture_settings(bench, "val/class0/2.png")
    bench.run(settings=settings).ended_with(USAGE, "rank", "val/class0/2.png")
    run = bench.run(settings=settings + ["on_bad_sample=replace"]).ended_with(DONE)
    record = last_record(bench)
    skipped = [note for note in record.notes if "2.png" in note]
    assert len(skipped) == 2 and all("skipped" in note for note in skipped), record.notes
    assert record.evaluated == {7}, record.evaluated
    assert run.table_line("samples left out") == "2", run.text()


def last_update_diverges(bench):
    """Weights that give no number are not the end of a run that went well."""
    bench.run(settings=["learning_rate=1e30", "steps=1"]).ended_with(
        NOT_A_NUMBER, "rank 0", "not a number after step 1")
    assert last_record(bench).state == "failed"
    assert not bench.newest_checkpoint(), "a checkpoint of it was kept"


def killed_session(bench):
    """kill -9 of everything at once: of both ranks the last moment is lost and no more."""
    bench.start(settings=["local_batch_size=1", "learning_rate=1e-4",
                          "mlp.hidden=[2500, 2500]"])
    bench.wait_for_steps(20)
    time.sleep(1.5)
    ranks = bench.ranks()
    killed = time.time()
    for rank in (0, 1):  # at once: none shall learn that another one died
        os.kill(ranks[rank], signal.SIGKILL)
    bench.tidy()
    record = last_record(bench)
    assert record.state == "running", record.notes
    assert record.epochs == 0, "the end of an epoch writes everything: choose a larger net"
    # On its way a row waits twice for a third of a second, and for two ranks to end a step.
    most = 0.3 + 0.3 + 2 * record.longest_step + 0.3
    for rank in (0, 1):
        lost = killed - record.started.timestamp() - record.last_seconds[rank]
        assert lost < most, f"rank {rank}: the last {lost:.2f} s are lost, not {most:.2f} s"


def reference(bench, settings):
    """The newest checkpoint of a run that nothing happened to."""
    undisturbed = Bench(bench.program, bench.folder / "undisturbed")
    undisturbed.file.write_text(bench.file.read_text())  # the same pictures too
    undisturbed.run(settings=settings).ended_with(DONE)
    return undisturbed.newest_checkpoint()


def stops(number, place, *settings):
    """Told to stop, a run ends with 75 and the next start goes on as if nothing had been."""
    def case(bench):
        run = bench.start(fault=f"rank=1 step=25 kind=slow_{place} seconds=1.5",
                          settings=settings)
        run.wait_for_mark()
        run.tell(number)
        run.end().ended_with(STOPPED)
        assert last_record(bench).state == "stopped"
        stopped_at = int(bench.newest_checkpoint().stem)
        earlier = last_record(bench)
        shown = bench.run(settings=settings).ended_with(DONE).text()
        assert f"\n{earlier.id} " in shown and "\ntogether " in shown, shown
        record = last_record(bench)
        assert record.state == "done"
        assert record.settings["continues"] == earlier.id
        assert record.steps[0][1] > 0, "the second start began anew"
        resumed, undisturbed = bench.newest_checkpoint(), reference(bench, settings)
        assert resumed.name == undisturbed.name and int(resumed.stem) > stopped_at
        for mine in sorted(resumed.parent.glob(f"{resumed.stem}.*ckpt")):
            differing = checkpoint.differences(mine, undisturbed.parent / mine.name)
            assert not differing, f"{mine.name} differs from the undisturbed run in {differing}"
    return case


def full_disk(match, room):
    assert os.path.isfile(FULL_DISK), "PARAJOULE_FULL_DISK names no library"
    return {"LD_PRELOAD": FULL_DISK, "FULL_DISK_MATCH": match, "FULL_DISK_BYTES": str(room)}


def full_disk_at_a_checkpoint(bench):
    """The checkpoint before stays, and the next start, with room, goes on from it."""
    bench.run(settings=["steps=1"]).ended_with(DONE)
    size = bench.newest_checkpoint().stat().st_size
    shutil.rmtree(bench.folder / "checkpoints")
    run = bench.run(environment=full_disk(".ckpt", size * 5 // 2))
    run.ended_with(ENVIRONMENT, "rank 0", ".ckpt", "No space left")
    assert last_record(bench).state == "failed"
    kept = bench.newest_checkpoint()
    checkpoint.entries(kept)
    assert not list(bench.folder.glob("checkpoints/**/*.part")), "a temporary file is left"
    bench.run().ended_with(DONE)
    assert last_record(bench).steps[0][1] > 0, "the second start began anew"
    assert not checkpoint.differences(bench.newest_checkpoint(), reference(bench, ()))


def full_disk_at_the_record(bench):
    """What was recorded before stays readable."""
    run = bench.run(environment=full_disk(".db", 120_000), settings=["epochs=600"])
    run.ended_with(ENVIRONMENT, "rank 0", ".db", "no space left")
    record = last_record(bench)
    assert record.steps, "nothing was kept"


def slurm(**more):
    return {"SLURM_JOB_ID": "1", "SLURM_STEP_ID": "0", "SLURM_PROCID": "0",
            "SLURM_STEP_NUM_TASKS": "2", "SLURM_NTASKS": "2",
            "SLURM_STEP_TASKS_PER_NODE": "2", **more}


def srun_singletons(bench):
    """srun without the right --mpi starts each rank alone: refused, with the remedy."""
    run = bench.run(environment=slurm())
    run.ended_with(ENVIRONMENT, "--mpi=pmix")
    # With the older interface the ranks know each other, but this MPI does not know them.
    run = bench.run(environment=slurm(PMI_RANK="0", PMI_SIZE="2"))
    run.ended_with(ENVIRONMENT, "--mpi=pmix")
    assert not bench.records(), "a run was begun"


def under_mpirun(bench, *of_each):
    """Two ranks that mpirun starts; `of_each`: the words of each rank, else those of all."""
    command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
    if not of_each:
        return command + ["-n", "2", bench.program, "train", str(bench.file)]
    for words in of_each:
        command += ["-n", "1", bench.program, "train", *words, ":"]
    return command[:-1]


def nothing_is_left(bench):
    assert not bench.records(), "a record was begun"
    assert not list(bench.folder.glob("checkpoints/*")), "a folder was made"


def refused_before_the_start(bench):
    """What cannot be trained is known before mpirun, a record and a folder."""
    for settings in (["precision=float16"], ["precision=bfloat16"], ["schedule=step",
                     "step.milestones=[3, 1]"], ["idx.folder=nowhere"]):
        run = bench.run(settings=settings + ["steps=1"])
        if run.process.returncode == DONE:  # a libtorch and a processor that can
            shutil.rmtree(bench.folder / "records")
            shutil.rmtree(bench.folder / "checkpoints")
            continue
        run.ended_with(USAGE, "parajoule: ")
        nothing_is_left(bench)


def mpirun_starts_the_ranks(bench):
    """They compute as those of the launcher do: the same kernel, the threads that were said."""
    def tasks_and_kernel(**options):
        run = bench.start(fault="rank=1 step=15 kind=slow_communication seconds=3", **options)
        run.wait_for_mark()
        rank = bench.ranks()[1]
        tasks = len(os.listdir(f"/proc/{rank}/task"))
        variables = pathlib.Path(f"/proc/{rank}/environ").read_bytes().split(b"\0")
        run.end().ended_with(DONE)
        assert last_record(bench).state == "done"
        return tasks, [word for word in variables if word.startswith(b"OPENBLAS_CORETYPE=")]
    _, kernel = tasks_and_kernel()
    one, kernel_of_one = tasks_and_kernel(command=under_mpirun(bench), settings=["threads=1"])
    four, kernel_of_four = tasks_and_kernel(command=under_mpirun(bench), settings=["threads=4"])
    assert kernel == kernel_of_one == kernel_of_four, (kernel, kernel_of_one, kernel_of_four)
    assert four >= one + 3, f"{one} tasks with one thread, {four} with four"
    setting = Record(bench.records()[-1]).settings["threads"]
    assert setting == "4", setting


def mpirun_missing_data(bench):
    """Told once by all ranks together, and nothing is begun."""
    run = bench.run(command=under_mpirun(bench), settings=["idx.folder=nowhere"])
    run.ended_with(USAGE, "parajoule: ", "nowhere")
    nothing_is_left(bench)


def mpirun_different_experiments(bench):
    """A rank that reads another experiment is named with the key, whether it can be read or not."""
    own = bench.folder / "own.toml"
    for line, told in (("learning_rate = 0.5", "learning_rate = 0.5, but rank 0 has"),
                       ("epoch = 5", "unknown key")):
        own.write_text(line + bench.file.read_text())
        run = bench.run(command=under_mpirun(bench, [str(bench.file)], [str(own)]))
        run.ended_with(USAGE, "parajoule: rank 1: ", told)
        nothing_is_left(bench)


def mpirun_other_ranks(bench):
    """The ranks are those started, which is said; one that is hung up on stops all."""
    run = bench.start(command=under_mpirun(bench), settings=["ranks=3"],
                      fault="rank=1 step=15 kind=slow_forward seconds=1.5")
    run.wait_for_mark()
    os.kill(bench.ranks()[1], signal.SIGHUP)
    run.end().ended_with(STOPPED, "2 ranks, as mpirun started them, not ranks = 3")
    run.ended_with(STOPPED, "stopped after step")
    assert last_record(bench).state == "stopped"
    bench.run(settings=["learning_rate=0.5"]).ended_with(DONE, "begins anew", "learning_rate = 0.1")


def server_dies(*settings):
    """A rank that serves, killed while the others train, ends the run in time and is named."""
    def case(bench):
        run = bench.start(fault="rank=1 step=15 kind=slow_forward seconds=600", settings=settings)
        run.wait_for_mark()
        os.kill(bench.ranks()[2], signal.SIGKILL)
        run.end(DEAD_RANK_SECONDS).ended_with(RANK_DIED, "rank 2")
        last_record(bench)
    return case


def all_of(*some):
    """One after the other, each in a folder of its own."""
    def case(bench):
        for number, one in enumerate(some):
            own = Bench(bench.program, bench.folder / str(number))
            try:
                one(own)
            finally:
                own.tidy()
    return case


# Methods that are not the usual one, with what lets them be themselves on two ranks that train.
METHODS = {
    "coarse_sparse": ("coarse_sparse.chunk=100", "coarse_sparse.sparsity=0.5"),
    "lsgd": ("ranks=3",),
    "pipe_sgd": ("pipe_sgd.width=3",),
    "local_sgd": ("local_sgd.period=4",),
    "oldsgd": ("oldsgd.period=4",),
}


def of_method(name):
    """The three that every method must end like: a dead rank, no number, a wish to stop."""
    settings = (f"strategy={name}", *METHODS[name])
    return {
        f"kill_{name}": kills("communication", *settings),
        f"nan_{name}": not_a_number(*settings),
        f"stop_{name}": stops(signal.SIGUSR1, "forward", *settings),
    }


# Each overlap and each sum; gradients of the small net make several sums.
SUMS_AND_OVERLAPS = [
    ("overlap=none", "sum=ring"),
    ("overlap=layer", "sum=halving_doubling"),
    ("overlap=lazy", "lazy.threshold_bytes=1000", "sum=tree"),
    ("overlap=merged", "merged.merge_bytes=1000", "sum=binary_blocks"),
    ("overlap=layer", "sum=hierarchical")]


CASES = {
    "throw_in_data": throws("data", "while a batch is taken"),
    "throw_in_forward": throws("forward", "in the pass"),
    "throw_in_communication": throws("communication", "while sums are under way"),
    "throw_in_evaluation": throws("evaluation", "while the others evaluate their chunks"),
    "throw_in_checkpoint": throws("checkpoint", "between the parts of a checkpoint"),
    "throw_on_rank_0": throws("forward", "on the rank that writes the record", rank=0),
    "kill_in_forward": kills("forward"),
    "kill_in_communication": kills("communication"),
    "kill_in_evaluation": kills("evaluation"),
    "kill_in_checkpoint": kills("checkpoint"),
    "kill_rank_0": kills("forward", rank=0),
    "dead_while_others_wait": dead_while_others_wait,
    "hang": hangs,
    "nan": not_a_number(),
    "broken_picture": broken_picture,
    "broken_validation_picture": broken_validation_picture,
    "last_update_diverges": last_update_diverges,
    "killed_session": killed_session,
    "term_in_training": stops(signal.SIGTERM, "forward"),
    "term_in_data_wait": stops(signal.SIGTERM, "data"),
    "term_in_evaluation": stops(signal.SIGTERM, "evaluation"),
    "term_in_checkpoint": stops(signal.SIGTERM, "checkpoint"),
    "usr1_in_training": stops(signal.SIGUSR1, "forward"),
    "usr1_in_data_wait": stops(signal.SIGUSR1, "data"),
    "usr1_in_evaluation": stops(signal.SIGUSR1, "evaluation"),
    "usr1_in_checkpoint": stops(signal.SIGUSR1, "checkpoint"),
    "kill_with_each_overlap_and_sum": all_of(
        *(kills("communication", *settings) for settings in SUMS_AND_OVERLAPS)),
    "stop_with_other_overlaps_and_sums": all_of(
        *(stops(signal.SIGUSR1, "forward", *settings) for settings in SUMS_AND_OVERLAPS[1:3])),
    "kill_lsgd_server": server_dies("strategy=lsgd", *METHODS["lsgd"]),
    "full_disk_at_a_checkpoint": full_disk_at_a_checkpoint,
    "full_disk_at_the_record": full_disk_at_the_record,
    "srun_singletons": srun_singletons,
    "refused_before_the_start": refused_before_the_start,
    "mpirun_starts_the_ranks": mpirun_starts_the_ranks,
    "mpirun_missing_data": mpirun_missing_data,
    "mpirun_different_experiments": mpirun_different_experiments,
    "mpirun_other_ranks": mpirun_other_ranks,
    **{case: run for name in METHODS for case, run in of_method(name).items()},
}


if __name__ == "__main__":
    cases.run(CASES, Bench, sys.argv[1:])
