#include "store/schema.h"

namespace parajoule::store {

// Plain tables that every SQLite since 3.8 reads; what must hold stands in checks, so that no
// program can write a number without its source, or a source without its label.
const char* const schema = R"(
CREATE TABLE run(
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  kind TEXT NOT NULL CHECK(kind IN ('run', 'measure', 'rehearsal', 'import')),
  state TEXT NOT NULL CHECK(state IN ('running', 'done', 'stopped', 'failed')),
  started_utc TEXT NOT NULL,
  version TEXT NOT NULL,
  command TEXT NOT NULL);
CREATE TABLE setting(
  key TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL,
  origin TEXT NOT NULL);
CREATE TABLE node(
  node INTEGER NOT NULL PRIMARY KEY,
  boot_id TEXT NOT NULL,
  host TEXT NOT NULL,
  cpus INTEGER NOT NULL,
  memory_bytes INTEGER NOT NULL);
CREATE TABLE source(
  source INTEGER NOT NULL PRIMARY KEY,
  node INTEGER NOT NULL REFERENCES node(node),
  device TEXT NOT NULL CHECK(device <> ''),
  device_kind TEXT NOT NULL CHECK(device_kind <> ''),
  quantity TEXT NOT NULL CHECK(quantity IN
    ('energy', 'power', 'temperature', 'clock', 'utilisation', 'memory')),
  unit TEXT NOT NULL CHECK(unit <> ''),
  label TEXT NOT NULL CHECK(label IN ('measured', 'modelled', 'simulated')),
  covers TEXT NOT NULL CHECK(covers <> ''),
  part_of TEXT,
  resolution REAL,
  update_period_seconds REAL,
  window_seconds REAL,
  bias_relative REAL,
  formula TEXT CHECK(formula <> ''),
  CHECK(label = 'measured' OR formula IS NOT NULL));
CREATE TABLE reading(
  source INTEGER NOT NULL REFERENCES source(source),
  seconds REAL NOT NULL,
  value REAL,
  gap TEXT CHECK(gap <> ''),
  CHECK((value IS NULL) <> (gap IS NULL)));
CREATE TABLE phase(
  rank INTEGER NOT NULL,
  name TEXT NOT NULL,
  begin_seconds REAL NOT NULL,
  end_seconds REAL NOT NULL,
  CHECK(end_seconds >= begin_seconds));
CREATE TABLE step(
  rank INTEGER NOT NULL,
  step INTEGER NOT NULL,
  seconds REAL NOT NULL,
  samples INTEGER NOT NULL,
  loss REAL,
  sent_bytes INTEGER NOT NULL,
  waited_seconds REAL NOT NULL);
CREATE TABLE epoch(
  epoch INTEGER NOT NULL,
  seconds REAL NOT NULL,
  "set" TEXT NOT NULL,
  metric TEXT NOT NULL,
  numerator REAL,
  denominator REAL);
CREATE TABLE note(
  seconds REAL NOT NULL,
  rank INTEGER,
  severity TEXT NOT NULL CHECK(severity IN ('note', 'warning', 'error')),
  text TEXT NOT NULL);
PRAGMA user_version = 1;
)";

}  // namespace parajoule::store
