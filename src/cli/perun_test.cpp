// The file is read back by the HDF5 library itself, whose functions are named here once more.

#include "cli/perun.h"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "store/record.h"
#include "store/test_record.h"

namespace parajoule::cli {
namespace {

using base::Seconds;
using testing::ElementsAre;
using testing::HasSubstr;

/// A file that is there already, read by the library of HDF5.
class Read {
 public:
  explicit Read(const std::filesystem::path& file) {
    library_ = ::dlopen("libhdf5_serial.so.103", RTLD_NOW);
    if (!library_) throw std::runtime_error(::dlerror());
    call<int()>("H5open")();
    file_ = call<Id(const char*, unsigned, Id)>("H5Fopen")(file.c_str(), 0, 0);
    if (file_ < 0) throw std::runtime_error("no HDF5 file");
  }
  ~Read() { call<int(Id)>("H5Fclose")(file_); }

  bool has(const std::string& path) const {
    const Id object = open(path);
    if (object >= 0) call<int(Id)>("H5Oclose")(object);
    return object >= 0;
  }

  double number(const std::string& path, const char* key) const {
    double value = 0;
    attribute(path, key, value_of("H5T_NATIVE_DOUBLE_g"), &value);
    return value;
  }

  std::string text(const std::string& path, const char* key) const {
    const Id type = call<Id(Id)>("H5Tcopy")(value_of("H5T_C_S1_g"));
    call<int(Id, std::size_t)>("H5Tset_size")(type, ~0UL);
    call<int(Id, int)>("H5Tset_cset")(type, 1);
    char* letters = nullptr;
    attribute(path, key, type, &letters);
    const std::string text = letters ? letters : "none";
    call<int(void*)>("H5free_memory")(letters);
    return text;
  }

  std::vector<double> row(const std::string& path) const {
    const Id data = call<Id(Id, const char*, Id)>("H5Dopen2")(file_, path.c_str(), 0);
    if (data < 0) throw std::runtime_error("no row " + path);
    const Id space = call<Id(Id)>("H5Dget_space")(data);
    std::vector<double> values(
        std::size_t(call<std::int64_t(Id)>("H5Sget_simple_extent_npoints")(space)));
    call<int(Id, Id, Id, Id, Id, void*)>("H5Dread")(data, value_of("H5T_NATIVE_DOUBLE_g"), 0, 0, 0,
                                                    values.data());
    call<int(Id)>("H5Sclose")(space);
    call<int(Id)>("H5Dclose")(data);
    return values;
  }

 private:
  using Id = std::int64_t;

  template <class Function>
  Function* call(const char* name) const {
    return reinterpret_cast<Function*>(::dlsym(library_, name));
  }
  Id value_of(const char* name) const { return *static_cast<Id*>(::dlsym(library_, name)); }
  Id open(const std::string& path) const {
    call<int(Id, void*, void*)>("H5Eset_auto2")(0, nullptr, nullptr);
    return call<Id(Id, const char*, Id)>("H5Oopen")(file_, path.c_str(), 0);
  }
  void attribute(const std::string& path, const char* key, Id type, void* to) const {
    const Id object = open(path);
    const Id attribute = call<Id(Id, const char*, Id)>("H5Aopen")(object, key, 0);
    if (attribute < 0) throw std::runtime_error(path + " has no " + key);
    call<int(Id, Id, void*)>("H5Aread")(attribute, type, to);
    call<int(Id)>("H5Aclose")(attribute);
    call<int(Id)>("H5Oclose")(object);
  }

  void* library_;
  Id file_;
};

/// Ten seconds of a package that draws 100 W, measured, and a memory of 4 W, modelled.
std::filesystem::path record_of(const store::TemporaryFolder& folder) {
  store::Record::Options options = store::options_in(folder);
  options.kind = store::Kind::measure;
  options.name = "a/b";
  store::Record record(options);
  store::Example example;
  example.memory.part_of.reset();
  record.add(example.node);
  record.add(example.package);
  record.add(example.memory);
  for (int at = 0; at <= 10; ++at)
    record.add(std::vector<store::Reading>{
        {.source = 0, .seconds = Seconds(at), .value = 5000 + 100.0 * at},
        {.source = 1, .seconds = Seconds(at), .value = 4.0}});
  record.add(std::vector<store::Reading>{{.source = 1, .seconds = Seconds(10.5), .gap = "failed"}});
  record.add(store::Phase{0, "solve \xff", Seconds(1), Seconds(3)});
  record.add(store::Phase{0, "solve \xff", Seconds(4), Seconds(5)});
  record.finish(store::State::done);
  return record.path();
}

class Perun : public testing::Test {
 protected:
  Perun() : record(record_of(folder)), file(folder.path() / "out.h5") {
    write_perun(record, file);
    run = "a_b/" + record.run().started_utc + "/nodes/0";
    run.insert(run.find('/'), "/nodes");
    node = run + "/nodes/0_n01";
  }

  store::TemporaryFolder folder;
  store::Reader record;
  std::filesystem::path file;
  std::string run, node;
};

TEST_F(Perun, HasTheGroupsAndKindsThatItsReaderLooksFor) {
  const Read read(file);
  const std::string sensor = node + "/nodes/cpu/nodes/package-0_energy";
  const std::pair<std::string, double> kinds[] = {{"a_b", 1},
                                                  {run.substr(0, run.rfind("/nodes")), 2},
                                                  {run, 3},
                                                  {node, 4},
                                                  {node + "/nodes/cpu", 5},
                                                  {sensor, 6}};
  for (const auto& [path, kind] : kinds) {
    EXPECT_EQ(read.number(path, "type"), kind) << path;
    EXPECT_TRUE(read.has(path + "/metrics")) << path;
    EXPECT_TRUE(read.has(path + "/nodes")) << path;
  }
  EXPECT_EQ(read.text(sensor, "device_type"), "cpu");
  EXPECT_EQ(read.text(node + "/nodes/ram", "device_type"), "ram");
  EXPECT_THAT(read.text(run, "command"), HasSubstr("parajoule train"));
}

TEST_F(Perun, HasEnergiesInJoulesAndMeasuredOnesAloneInSums) {
  const Read read(file);
  for (const std::string& path : {run, node, node + "/nodes/cpu/nodes/package-0_energy"}) {
    const std::string energy = path + "/metrics/ENERGY";
    EXPECT_NEAR(read.number(energy, "value"), 1000, 1e-9) << path;
    EXPECT_EQ(read.text(energy, "unit"), "J");
    EXPECT_EQ(read.text(energy, "type"), "energy");
    EXPECT_EQ(read.text(energy, "dtype"), "float64");
    EXPECT_EQ(read.text(energy, "agg_type"), "sum");
    EXPECT_EQ(read.number(energy, "mag"), 1);
  }
  const std::string memory = node + "/nodes/ram/nodes/memory_power";
  EXPECT_EQ(read.text(memory, "label"), "modelled");
  EXPECT_NEAR(read.number(memory + "/metrics/ENERGY", "value"), 42, 1e-9);  // for 10.5 s
}

TEST_F(Perun, HasTheReadingsAsTheyAreWithoutTheGaps) {
  const Read read(file);
  const std::string raw = node + "/nodes/cpu/nodes/package-0_energy/raw_data/";
  EXPECT_THAT(read.row(raw + "timesteps"), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
  EXPECT_EQ(read.row(raw + "values").front(), 5000);
  EXPECT_EQ(read.text(raw + "values", "unit"), "J");
  EXPECT_EQ(read.row(node + "/nodes/ram/nodes/memory_power/raw_data/values").size(), 11u);
}

TEST_F(Perun, HasRegionsWithTheTimesOfEachProcess) {
  const Read read(file);
  const std::string region = run + "/regions/solve \xef\xbf\xbd";
  EXPECT_THAT(read.row(region + "/raw_data/0"), ElementsAre(1, 3, 4, 5));
  EXPECT_EQ(read.number(region + "/N_RUNS", "sum"), 2);
  EXPECT_EQ(read.number(region + "/metrics/RUNTIME", "mean"), 1.5);
  EXPECT_EQ(read.number(region + "/metrics/RUNTIME", "std"), 0.5);
}

TEST_F(Perun, SaysWhyItCannotBeWritten) {
  EXPECT_THROW(write_perun(record, folder.path() / "no/such/folder/out.h5"), base::Error);
  try {
    write_perun(record, file, "/no/such/libhdf5.so");
    ADD_FAILURE();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::environment);
    EXPECT_THAT(error.what(), HasSubstr("install it (Debian: libhdf5-103-1)"));
  }
}

}  // namespace
}  // namespace parajoule::cli
