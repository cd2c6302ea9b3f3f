"""Commands on a terminal: keys, stopped jobs, window sizes. A shell's part is played here."""

import fcntl
import json
import os
import pathlib
import pty
import re
import signal
import struct
import sys
import termios

from bench import LISTENER, wait_for


class Job:
    """A job in the foreground of a terminal of its own, started as a shell starts one."""

    def __init__(self, bench, words, rest=None):
        self.screen, terminal = pty.openpty()
        name = os.ttyname(terminal)
        self.resize(30, 100)
        self.shell = os.fork()
        if self.shell == 0:
            try:
                self.play_shell(bench, name, words, rest)
            finally:
                os._exit(99)
        os.close(terminal)

    @staticmethod
    def play_shell(bench, name, words, rest):
        """Leads a session; waits for the job and tells what it sees of it."""
        os.setsid()
        terminal = os.open(name, os.O_RDWR)
        fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        job = os.fork()
        if job == 0:
            os.setpgid(0, 0)
            os.tcsetpgrp(terminal, os.getpid())
            for number in (signal.SIGTTOU, signal.SIGINT, signal.SIGPIPE):
                signal.signal(number, signal.SIG_DFL)
            for stream in (0, 1, 2):
                os.dup2(terminal, stream)
            os.chdir(bench.folder)
            os.execve(words[0], words, bench.environment({"TERM": "xterm"}))
        while True:
            _, status = os.waitpid(job, os.WUNTRACED)
            with open(bench.folder / "shell", "a") as file:
                if os.WIFSTOPPED(status):
                    file.write(f"stopped {os.WSTOPSIG(status)}\n")
                else:
                    file.write(f"ended {os.waitstatus_to_exitcode(status)}\n")
            if not os.WIFSTOPPED(status):
                os._exit(0)
            os.tcsetpgrp(terminal, os.getpgrp())
            wait_for("fg", (bench.folder / "fg").exists)
            os.unlink(bench.folder / "fg")
            os.tcsetpgrp(terminal, os.getpgid(job))
            os.killpg(os.getpgid(job), signal.SIGCONT)

    def resize(self, rows, columns):
        fcntl.ioctl(self.screen, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def press(self, key):
        os.write(self.screen, key)

    def everything(self):
        """What was shown, until the end of the job."""
        text = b""
        while True:
            try:
                part = os.read(self.screen, 65536)
            except OSError:
                return text
            if not part:
                return text
            text += part


def state_of(process):
    return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]


def listener_on(bench, *signals, options=()):
    told = bench.folder / "told"
    job = Job(bench, [bench.program, "measure", *options, "--", sys.executable, "-c", LISTENER,
                      str(told), *signals])
    wait_for("the listener", told.exists)
    return job, lambda: json.loads(told.read_text())


def shell_of(bench):
    file = bench.folder / "shell"
    return file.read_text().splitlines() if file.exists() else []


def keys(bench):
    """Ctrl-C and Ctrl-\\ reach the command once each, and do not end us before the table."""
    job, told = listener_on(bench, "SIGINT", "SIGQUIT", "SIGUSR2")
    job.press(b"\x03")
    wait_for("SIGINT", lambda: told()["counts"].get("SIGINT"))
    job.press(b"\x1c")
    wait_for("SIGQUIT", lambda: told()["counts"].get("SIGQUIT"))
    os.kill(told()["pid"], signal.SIGUSR2)
    assert b"modelled" in job.everything()
    wait_for("the end", lambda: shell_of(bench) == ["ended 0"])
    assert told()["counts"] == {"SIGINT": 1, "SIGQUIT": 1, "SIGUSR2": 1}, told()


def interrupted(bench):
    """Ctrl-C ends a command that does not care; its table comes, and 130."""
    job, _ = listener_on(bench)
    job.press(b"\x03")
    assert b"modelled" in job.everything()
    wait_for("the end", lambda: shell_of(bench) == ["ended 130"])


def stopped(bench):
    """Ctrl-Z stops both, fg goes on with both, and the shell sees a stopped job."""
    job, told = listener_on(bench, "SIGCONT", "SIGUSR2")
    for times in (1, 2):
        job.press(b"\x1a")
        wait_for("the shell", lambda: shell_of(bench) == [f"stopped {signal.SIGTSTP}"] * times)
        assert state_of(told()["pid"]) == "T"
        (bench.folder / "fg").touch()
        wait_for("SIGCONT", lambda: told()["counts"].get("SIGCONT") == times)
        assert state_of(told()["pid"]) in "SRD"
    os.kill(told()["pid"], signal.SIGUSR2)
    job.everything()
    wait_for("the end", lambda: shell_of(bench)[-1] == "ended 0")


def stopped_while_idle(bench):
    """Ctrl-Z before the command is started stops us; fg goes on, and the command gets no signal."""
    told = bench.folder / "told"
    job = Job(bench, [bench.program, "measure", "--idle", "3s", "--", sys.executable, "-c",
                      LISTENER, str(told), "SIGTSTP", "SIGCONT", "SIGUSR2"])
    wait_for("the meter", bench.records)
    job.press(b"\x1a")
    wait_for("the shell", lambda: shell_of(bench) == [f"stopped {signal.SIGTSTP}"])
    assert not told.exists()
    (bench.folder / "fg").touch()
    wait_for("the command", told.exists)
    command = json.loads(told.read_text())
    os.kill(command["pid"], signal.SIGUSR2)
    job.everything()
    wait_for("the end", lambda: shell_of(bench)[-1] == "ended 0")
    assert json.loads(told.read_text())["counts"] == {"SIGUSR2": 1}


def stopped_alone(bench):
    """Whoever stops the command alone and goes on with it, as cpulimit does, does not stop us."""
    job, told = listener_on(bench, "SIGUSR2")
    for _ in range(3):
        os.kill(told()["pid"], signal.SIGSTOP)
        wait_for("the stop", lambda: state_of(told()["pid"]) == "T")
        os.kill(told()["pid"], signal.SIGCONT)
        wait_for("going on", lambda: state_of(told()["pid"]) != "T")
    os.kill(told()["pid"], signal.SIGUSR2)
    job.everything()
    wait_for("the end", lambda: shell_of(bench) == ["ended 0"])


def window(bench):
    """A new window size reaches the command once, and it sees the size."""
    job, told = listener_on(bench, "SIGWINCH", "SIGUSR2")
    assert told()["size"] == [100, 30], told()
    job.resize(40, 57)
    wait_for("SIGWINCH", lambda: told()["counts"].get("SIGWINCH"))
    assert told()["size"] == [57, 40] and told()["counts"]["SIGWINCH"] == 1, told()
    os.kill(told()["pid"], signal.SIGUSR2)
    lines = job.everything().decode().splitlines()
    shown = lines[next(i for i, line in enumerate(lines) if "parajoule measure" in line):]
    for line in shown:
        plain = re.sub(r"\x1b\[[0-9;]*m", "", line)
        assert len(plain) <= 57, f"too wide for the terminal: {plain!r}"


def typed(bench):
    """What is typed goes to the command alone, and the terminal is its own."""
    job = Job(bench, [bench.program, "measure", "--quiet", "--", "/bin/sh", "-c",
                      "read line; echo \"<$line>\"; test -t 0 && test -t 1 && test -t 2 && tty"])
    job.press(b"words\n")
    shown = job.everything()
    assert b"<words>" in shown and b"/dev/pts/" in shown, shown
    wait_for("the end", lambda: shell_of(bench) == ["ended 0"])


CASES = {"keys": keys, "interrupted": interrupted, "stopped": stopped,
         "stopped_while_idle": stopped_while_idle,
         "stopped_alone": stopped_alone, "window": window, "typed": typed}
