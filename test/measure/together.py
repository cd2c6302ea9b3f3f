"""Several tasks on a node, and several nodes: one meter a node, one table a job."""

import json
import os
import pathlib
import signal

from bench import Record, own_group, wait_for


def tables(text):
    return text.count(b"parajoule measure")


def started(bench, rank, ranks, command, options=(), *, nodes=1, node=0, layout=None, words=None,
            **more):
    """A task as srun would start it."""
    environment = {"SLURM_JOB_ID": "4711", "SLURM_STEP_ID": str(os.getpid()), "SLURM_PROCID": rank,
                   "SLURM_STEP_NUM_TASKS": ranks, "SLURM_STEP_NUM_NODES": nodes,
                   "SLURM_NODEID": node, "SLURM_JOB_ACCOUNT": "physics",
                   "SLURM_STEP_TASKS_PER_NODE": layout or str(ranks)}
    environment = {name: str(value) for name, value in environment.items()}
    environment.update(more.pop("environment", {}))
    return bench.start(command, options, environment=environment,
                       words=(words or []) + bench.words(command, options), **more)


def ended(processes):
    """Statuses, and what all of them said."""
    texts = [process.communicate(timeout=60) for process in processes]
    return [process.returncode for process in processes], b"".join(e for _, e in texts)


def mpirun(bench):
    """Four tasks under mpirun: one record, one table, the processor time of all."""
    words = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", "4", *bench.words(
        ["/bin/sh", "-c", "echo rank $OMPI_COMM_WORLD_RANK"])]
    status, output, errors = bench.run([], words=words, environment={
        "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    assert status == 0, errors
    assert sorted(output.split(b"\n")[:4]) == [b"rank %d" % rank for rank in range(4)], output
    assert len(bench.records()) == 1 and tables(errors) == 1, errors
    record = Record(bench.records()[0])
    assert record.settings["tasks"] == b"4" and len(record.nodes) == 1, record.settings
    nothing_left(bench)


def aborted(bench):
    """mpirun ends a job because a task was killed: the others tell what they took."""
    words = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", "4", *bench.words(
        ["/bin/sh", "-c", "touch begun.$OMPI_COMM_WORLD_RANK; exec sleep 100"],
        ["--json", "out.json"])]
    job = bench.start([], words=words, environment={
        "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    for rank in range(4):
        wait_for("the tasks", (bench.folder / f"begun.{rank}").exists)
    tasks = pathlib.Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split()
    ranks = {environment_of(task)["OMPI_COMM_WORLD_RANK"]: int(task) for task in tasks}
    os.kill(ranks["0"], signal.SIGKILL)
    errors = job.communicate(timeout=60)[1]
    assert job.returncode != 0 and tables(errors) == 1, errors
    numbers = json.loads((bench.folder / "out.json").read_text())
    notes = [note["text"] for note in numbers["notes"]]
    assert any("task 0 went without a last word" in note for note in notes), notes
    nothing_left(bench)


def environment_of(process):
    text = pathlib.Path(f"/proc/{process}/environ").read_bytes().decode(errors="replace")
    return dict(line.split("=", 1) for line in text.split("\0") if "=" in line)


def nothing_left(bench):
    mine = f"parajoule-{os.getuid()}-"
    left = [path for path in pathlib.Path("/dev/shm").iterdir() if path.name.startswith(mine)
            and not any(path.iterdir())]
    assert not left, left


def statuses(bench):
    """Each task has its own status, and ends when its command does, whoever started the meter."""
    fifo = bench.folder / "fifo"
    os.mkfifo(fifo)
    commands = [["/bin/sh", "-c", "exit 1"], ["/bin/sh", "-c", f"read x < {fifo}; exit 2"],
                ["/bin/sh", "-c", "kill -9 $$"]]
    tasks = [started(bench, rank, 3, command) for rank, command in enumerate(commands)]
    assert [tasks[0].wait(60), tasks[2].wait(60)] == [1, 137]
    fifo.write_text("go\n")
    status, errors = ended(tasks)
    assert status == [1, 2, 137] and tables(errors) == 1, errors
    assert b"outlived" not in errors, errors  # our own meter of the node is nobody's
    record = Record(bench.records()[0])
    assert record.settings["status"] == b"137" and record.state == b"done"
    assert [record.settings[f"task.{rank}.status"] for rank in range(3)] == [b"1", b"2", b"137"]
    assert record.settings["slurm.account"] == b"physics"


def dead_task(bench):
    """A task whose wrapper is killed is noticed; the others have their table."""
    fifo = bench.folder / "fifo"
    os.mkfifo(fifo)
    tasks = [started(bench, rank, 2, ["/bin/sh", "-c", f"touch begun.{rank}; read x < {fifo}"])
             for rank in range(2)]
    for rank in range(2):
        wait_for("the tasks", (bench.folder / f"begun.{rank}").exists)
    tasks[0].kill()
    tasks[0].wait()
    # Open at both ends, it keeps a line for a command that comes to read later than the other.
    with open(fifo, "r+b", buffering=0) as held:
        held.write(b"go\ngo\n")
        assert tasks[1].wait(60) in (0, 1)
    record = Record(bench.records()[0])
    assert any("task 0 went without a last word" in note for note in record.notes), record.notes


def killed_group(bench):
    """The group of the task that started the meter is killed: the meter goes on for the others."""
    fifo = bench.folder / "fifo"
    os.mkfifo(fifo)
    wait = ["/bin/sh", "-c", f"touch begun.$SLURM_PROCID; read x < {fifo}"]
    first = started(bench, 0, 2, wait, preexec_fn=own_group)
    children = pathlib.Path(f"/proc/{first.pid}/task/{first.pid}/children")
    wait_for("the meter", lambda: len(children.read_text().split()) >= 2)
    second = started(bench, 1, 2, wait, preexec_fn=own_group)
    for rank in range(2):
        wait_for("the tasks", (bench.folder / f"begun.{rank}").exists)
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    fifo.write_text("go\n")
    errors = second.communicate(timeout=60)[1]
    assert second.returncode == 0 and tables(errors) == 1, errors
    assert Record(bench.records()[0]).state == b"done"


def killed_keeper(bench):
    """The meter of the node is killed: every task keeps its status, and the last one tells what was
    read until then."""
    fifo = bench.folder / "fifo"
    os.mkfifo(fifo)
    first = started(bench, 0, 2, ["/bin/sh", "-c", f"touch begun; read x < {fifo}; exit 3"])
    wait_for("the command", (bench.folder / "begun").exists)
    second = started(bench, 1, 2, ["true"])
    assert second.wait(60) == 0
    children = pathlib.Path(f"/proc/{first.pid}/task/{first.pid}/children").read_text().split()
    keeper, = [int(child) for child in children if os.getsid(int(child)) == int(child)]
    record, = bench.records()
    wait_for("readings", lambda: Record(record).readings)
    os.kill(keeper, signal.SIGKILL)
    fifo.write_text("go\n")
    errors = first.communicate(timeout=60)[1]
    assert first.returncode == 3 and tables(errors) == 1, errors
    assert b"was killed" in errors and b"modelled" in errors, errors
    nothing_left(bench)


def consumed_energy(bench):
    """What Slurm counts stands beside ours, in no total."""
    folder = bench.folder / "bin"
    folder.mkdir()
    stub = folder / "sacct"
    stub.write_text("#!/bin/sh\necho \"$@\" > asked\necho 123456\n")
    stub.chmod(0o755)
    path = f"{folder}:{os.environ['PATH']}"
    json_file = bench.folder / "out.json"
    tasks = [started(bench, rank, 2, ["true"], ["--json", str(json_file)],
                     environment={"PATH": path}) for rank in range(2)]
    status, errors = ended(tasks)
    assert status == [0, 0] and b"123456 J" in errors, errors
    assert f"-j 4711.{os.getpid()}" in (bench.folder / "asked").read_text()
    numbers = json.loads(json_file.read_text())
    assert numbers["settings"]["slurm.consumed_energy_joules"] == "123456"
    for label in ("measured", "modelled"):
        total = numbers["totals"][label]
        assert total is None or total["energy_joules"] < 123456
    stub.write_text("#!/bin/sh\necho 0\n")  # Slurm's word for: nothing counts
    tasks = [started(bench, rank, 2, ["true"], environment={"PATH": path}) for rank in range(2)]
    status, errors = ended(tasks)
    assert status == [0, 0] and b"ConsumedEnergy" not in errors, errors


def scontrol(bench):
    """What Slurm says of a job is taken from the environment: scontrol's words are asked of nobody,
    whatever they would be."""
    folder = bench.folder / "bin"
    folder.mkdir()
    for name in ("scontrol", "squeue", "sinfo"):
        stub = folder / name
        stub.write_text("#!/bin/sh\ntouch asked\necho 'JobId=1 NodeList=(null) TRES=cpu=x,gres/gpu'\n")
        stub.chmod(0o755)
    environment = {"PATH": f"{folder}:{os.environ['PATH']}", "SLURM_JOB_NODELIST": "n[01-02]",
                   "SLURM_GPUS_ON_NODE": "4"}
    tasks = [started(bench, rank, 2, ["true"], environment=environment) for rank in range(2)]
    status, errors = ended(tasks)
    assert status == [0, 0] and tables(errors) == 1, errors
    record = Record(bench.records()[0])
    assert record.settings["slurm.nodes"] == b"n[01-02]", record.settings
    assert record.settings["slurm.gpus_on_node"] == b"4", record.settings
    assert not (bench.folder / "asked").exists()


def on_node(bench, node):
    """A command line before a command: as on another machine, with a start of its own and a
    memory of its own."""
    boot_id = bench.folder / f"boot_id.{node}"
    boot_id.write_text(f"00000000-0000-0000-0000-00000000000{node}\n")
    script = (f"mount --bind {boot_id} /proc/sys/kernel/random/boot_id && "
              "mount -t tmpfs none /dev/shm && exec \"$@\"")
    return ["unshare", *([] if os.getuid() == 0 else ["-r"]), "-m", "/bin/sh", "-c", script, "sh"]


def nodes(bench):
    """Two nodes with a shared folder: the last one tells the energy of both, in one record."""
    fifo = bench.folder / "fifo"
    os.mkfifo(fifo)
    late = ["/bin/sh", "-c", f"read x < {fifo}"]
    both = [started(bench, node, 2, late if node else ["true"], nodes=2, node=node, layout="1(x2)",
                    words=on_node(bench, node)) for node in range(2)]
    first = both[0].communicate(timeout=60)[1]
    assert tables(first) == 0 and b"runs merge" in first and b"1 of 2 tasks" in first, first
    fifo.write_text("go\n")
    second = both[1].communicate(timeout=60)[1]
    assert tables(second) == 1 and b"nodes 2 of 2" in b" ".join(second.split()), second
    assert len(bench.records()) == 1, bench.records()
    record = Record(bench.records()[0])
    assert len(record.nodes) == 2 and record.settings["nodes"] == b"2"
    assert {node for _, node, _ in record.sources} == {0, 1}


def apart(bench):
    """Nodes that share nothing: merged by hand; a missing one is told, a wrong one refused."""
    parts = []
    for node in range(2):
        task = started(bench, node, 3, ["sleep", "0.2"], ["--records", f"of{node}"], nodes=3,
                       node=node, layout="1(x3)", words=on_node(bench, node))
        assert task.wait(60) == 0
        parts += bench.records(f"of{node}")
    merge = [bench.program, "runs", "merge"]
    status, output, errors = bench.run([], words=[*merge, *map(str, parts)])
    assert status == 0 and b"nodes 2 of 3" in b" ".join(output.split()), output + errors
    assert len(bench.records()) == 1
    bench.run(["true"], ["--records", "alone"])
    bench.run(["true"], ["--records", "alone"])
    status, _, errors = bench.run([], words=[*merge, *map(str, bench.records("alone"))])
    assert status == 2 and b"at another time" in errors, errors


CASES = {"mpirun": mpirun, "aborted": aborted, "statuses": statuses, "dead_task": dead_task,
         "killed_group": killed_group, "killed_keeper": killed_keeper,
         "consumed_energy": consumed_energy, "scontrol": scontrol, "nodes": nodes, "apart": apart}
