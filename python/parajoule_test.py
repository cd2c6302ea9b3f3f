"""Tests of parajoule.py over the library that PARAJOULE_LIBRARY names."""

import asyncio
import os
import subprocess
import sys
import tempfile
import threading
import unittest

import parajoule

NAMES = ["plain", 'a,"b"\n€', b"\xff\xfe", "100 %"]

PROGRAM = """
import sys, parajoule
for name in %r:
    with parajoule.region(name):
        pass
assert parajoule.active() == "wrapper"
try:
    with parajoule.region("energy") as region:
        pass
    region.result()
except parajoule.Error as error:
    assert "parajoule measure" in str(error)
else:
    sys.exit("no error")
""" % NAMES


def decoded(text):
    out, i = bytearray(), 0
    while i < len(text):
        if text[i:i + 1] == b"%":
            out.append(int(text[i + 1:i + 3], 16))
            i += 3
        else:
            out += text[i:i + 1]
            i += 1
    return bytes(out)


class Alone(unittest.TestCase):
    def test_without_a_meter_nothing_happens(self):
        self.assertEqual(parajoule.active(), "no")
        with parajoule.region("x") as region:
            pass
        with self.assertRaises(parajoule.Error):
            region.result()

    def test_meters_itself(self):
        with parajoule.metering(hertz=100):
            self.assertEqual(parajoule.active(), "here")
            with parajoule.region("outer") as outer:
                with parajoule.region("inner", exact=True) as inner:
                    sum(range(100000))
        for region in (outer, inner):
            result = region.result()
            self.assertGreater(result.seconds, 0)
            self.assertTrue(result.energies)
            for energy in result.energies:
                self.assertIn(energy.label, ("measured", "modelled"))
                self.assertTrue(energy.covers)
                self.assertTrue(energy.joules is None or energy.joules >= 0)
            for total in (result.measured, result.modelled):
                self.assertTrue(total is None or (total.joules >= 0 and total.half_width >= 0))
        self.assertGreaterEqual(outer.result().seconds, inner.result().seconds)
        inner.forget()
        with self.assertRaises(parajoule.Error):
            inner.result()

    def test_a_second_start_is_refused_in_words(self):
        with parajoule.metering():
            with self.assertRaisesRegex(parajoule.Error, "metering already"):
                parajoule.start()
        with self.assertRaisesRegex(parajoule.Error, "5000"):
            parajoule.start(hertz=5000)

    def test_decorator_keeps_name_result_and_exceptions(self):
        @parajoule.region("step")
        def step(value):
            """Words."""
            if value < 0:
                raise ValueError(value)
            return 2 * value
        self.assertEqual((step.__name__, step.__doc__, step(21)), ("step", "Words.", 42))
        with parajoule.metering():
            with self.assertRaises(ValueError):
                step(-1)
            self.assertEqual(step(1), 2)

    def test_names_that_cannot_be_taken(self):
        for name in ("", "a\0b"):
            with self.assertRaises(parajoule.Error):
                parajoule.region(name)
        with self.assertRaisesRegex(parajoule.Error, "1001 bytes"):
            parajoule.region("x" * 1001).begin()

    def test_threads(self):
        troubles = []

        def work():
            try:
                for _ in range(10):
                    with parajoule.region("x") as region:
                        pass
                    region.result()
            except Exception as trouble:  # told in the main thread
                troubles.append(trouble)
        with parajoule.metering(hertz=1000):
            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(troubles, [])

    def test_regions_of_tasks_overlap(self):
        async def task(regions):
            with parajoule.region("task") as region:
                await asyncio.sleep(0)
            regions.append(region)

        async def all_tasks(regions):
            await asyncio.gather(*(task(regions) for _ in range(10)))
        regions = []
        with parajoule.metering(hertz=1000):
            asyncio.run(all_tasks(regions))
        self.assertEqual(len([region.result() for region in regions]), 10)

    def test_waits_for_devices(self):
        calls = []
        parajoule.synchronise_with(lambda: calls.append(1))
        with parajoule.metering():
            with parajoule.region("x"):
                pass
        parajoule.synchronise_with(None)
        with parajoule.metering():
            with parajoule.region("x"):
                pass
        self.assertEqual(len(calls), 2)

    def test_says_its_version(self):
        self.assertRegex(parajoule.version(), r"^parajoule \d+\.\d+\.\d+$")


class Wrapped(unittest.TestCase):
    def test_regions_reach_the_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            environment = dict(os.environ, PARAJOULE_REGIONS=folder)
            subprocess.run([sys.executable, "-c", PROGRAM], env=environment, check=True)
            (file,) = os.listdir(folder)
            with open(os.path.join(folder, file), "rb") as text:
                lines = [line.split(b" ") for line in text.read().splitlines()]
        begun = [decoded(line[3]) for line in lines if line[0] == b"B"]
        wanted = [name if isinstance(name, bytes) else name.encode() for name in NAMES]
        self.assertEqual(begun, wanted + [b"energy"])
        self.assertEqual(len(lines), 2 * len(begun))


class Missing(unittest.TestCase):
    def test_a_library_that_is_not_there_is_named(self):
        environment = dict(os.environ, PARAJOULE_LIBRARY="/no/such/library.so")
        ended = subprocess.run([sys.executable, "-c", "import parajoule"], env=environment,
                               stderr=subprocess.PIPE, universal_newlines=True)
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("/no/such/library.so", ended.stderr)
        self.assertIn("PARAJOULE_LIBRARY", ended.stderr)


if __name__ == "__main__":
    unittest.main()
