#include "cli/perun_file.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "meter/shared_library.h"

namespace parajoule::cli {

namespace {

// Of H5public.h, H5Tpublic.h, H5Spublic.h, H5Fpublic.h, the same since version 1.10.
using Id = std::int64_t;
constexpr Id standard = 0;              // H5P_DEFAULT
constexpr int scalar = 0;               // H5S_SCALAR
constexpr std::size_t variable = ~0UL;  // H5T_VARIABLE
constexpr int utf8 = 1;                 // H5T_CSET_UTF8
constexpr unsigned replace = 2;         // H5F_ACC_TRUNC

struct Functions {
  int (*open)();
  int (*version)(unsigned*, unsigned*, unsigned*);
  int (*errors_to)(Id stack, void* function, void* data);
  Id (*create_file)(const char*, unsigned, Id, Id);
  Id (*create_group)(Id, const char*, Id, Id, Id);
  Id (*create_attribute)(Id, const char*, Id type, Id space, Id, Id);
  int (*write_attribute)(Id, Id type, const void*);
  int (*close_attribute)(Id);
  Id (*create_row)(Id, const char*, Id type, Id space, Id, Id, Id);
  int (*write_row)(Id, Id type, Id, Id, Id, const void*);
  int (*close_row)(Id);
  Id (*create_space)(int);
  Id (*create_line)(int rank, const unsigned long long* sizes, const unsigned long long* most);
  int (*close_space)(Id);
  Id (*copy_type)(Id);
  int (*set_size)(Id, std::size_t);
  int (*set_letters)(Id, int);
  int (*close_type)(Id);
  int (*close_group)(Id);
  int (*close_file)(Id);
  Id* text_type;
  Id* number_type;
  Id* whole_type;
};

base::Error failed(const std::string& why) { return {base::Fault::environment, why}; }

std::vector<std::string> names_of(const std::string& library) {
  if (!library.empty()) return {library};
  return {"libhdf5.so", "libhdf5_serial.so.103", "libhdf5.so.103", "libhdf5.so.200",
          "libhdf5.so.310"};
}

Functions found(const meter::SharedLibrary& library) {
  Functions functions{};
  const auto find = [&](auto*& to, const char* name) {
    to = library.symbol<std::remove_pointer_t<std::remove_reference_t<decltype(to)>>>(name);
    if (!to) throw failed(fmt::format("the HDF5 library has no {}", name));
  };
  find(functions.open, "H5open");
  find(functions.version, "H5get_libversion");
  find(functions.errors_to, "H5Eset_auto2");
  find(functions.create_file, "H5Fcreate");
  find(functions.create_group, "H5Gcreate2");
  find(functions.create_attribute, "H5Acreate2");
  find(functions.write_attribute, "H5Awrite");
  find(functions.close_attribute, "H5Aclose");
  find(functions.create_row, "H5Dcreate2");
  find(functions.write_row, "H5Dwrite");
  find(functions.close_row, "H5Dclose");
  find(functions.create_space, "H5Screate");
  find(functions.create_line, "H5Screate_simple");
  find(functions.close_space, "H5Sclose");
  find(functions.copy_type, "H5Tcopy");
  find(functions.set_size, "H5Tset_size");
  find(functions.set_letters, "H5Tset_cset");
  find(functions.close_type, "H5Tclose");
  find(functions.close_group, "H5Gclose");
  find(functions.close_file, "H5Fclose");
  if (functions.open() < 0) throw failed("the HDF5 library does not begin");
  find(functions.text_type, "H5T_C_S1_g");
  find(functions.number_type, "H5T_NATIVE_DOUBLE_g");
  find(functions.whole_type, "H5T_NATIVE_INT64_g");
  return functions;
}

meter::SharedLibrary opened(const std::string& name) {
  const std::vector<std::string> names = names_of(name);
  auto library = meter::SharedLibrary::open(names);
  if (const auto* why = std::get_if<std::string>(&library))
    throw failed(fmt::format("no HDF5 library: {}; install it (Debian: libhdf5-103-1)", *why));
  return std::move(std::get<meter::SharedLibrary>(library));
}

}  // namespace

class Hdf5 {
 public:
  Hdf5(const std::filesystem::path& file, const std::string& library)
      : library_(opened(library)), call(found(library_)) {
    unsigned major = 0, minor = 0, release = 0;
    call.version(&major, &minor, &release);
    if (major == 1 && minor < 10)
      throw failed(fmt::format("the HDF5 library is of version {}.{}: 1.10 or later is needed",
                               major, minor));
    call.errors_to(0, nullptr, nullptr);  // they are told by us
    text_type = checked(call.copy_type(*call.text_type), "a type of text");
    call.set_size(text_type, variable);
    call.set_letters(text_type, utf8);
    id = call.create_file(file.c_str(), replace, standard, standard);
    if (id < 0) throw failed(fmt::format("cannot write the file '{}'", file.string()));
  }
  ~Hdf5() {
    call.close_type(text_type);
    call.close_file(id);
  }
  Hdf5(const Hdf5&) = delete;
  Hdf5& operator=(const Hdf5&) = delete;

  Id checked(Id id, std::string_view what) const {
    if (id < 0) throw failed(fmt::format("HDF5 cannot make {}", what));
    return id;
  }

  /// An attribute of one value.
  void attribute(Id object, const char* key, Id type, const void* value) const {
    const Id space = checked(call.create_space(scalar), "a space");
    const Id attribute = call.create_attribute(object, key, type, space, standard, standard);
    const bool written = attribute >= 0 && call.write_attribute(attribute, type, value) >= 0;
    if (attribute >= 0) call.close_attribute(attribute);
    call.close_space(space);
    if (!written) throw failed(fmt::format("HDF5 cannot write the attribute {}", key));
  }

 private:
  meter::SharedLibrary library_;

 public:
  const Functions call;
  Id id = -1;
  Id text_type = -1;
};

Hdf5Object::Hdf5Object(Hdf5Object&& other) noexcept
    : file_(std::move(other.file_)),
      id_(std::exchange(other.id_, -1)),
      is_group_(other.is_group_) {}

Hdf5Object::~Hdf5Object() {
  if (!file_ || id_ < 0) return;
  is_group_ ? file_->call.close_group(id_) : file_->call.close_row(id_);
}

Hdf5Object Hdf5Object::group(std::string_view name) const {
  std::string plain(name);
  std::ranges::replace(plain, '/', '_');
  if (plain.empty() || plain == ".") plain = "_";
  const Id id = file_->call.create_group(id_, plain.c_str(), standard, standard, standard);
  return {file_, file_->checked(id, plain), true};
}

Hdf5Object Hdf5Object::row(std::string_view name, std::span<const double> values) const {
  const unsigned long long size = values.size();
  const Id space = file_->checked(file_->call.create_line(1, &size, nullptr), "a space");
  const Id type = *file_->call.number_type;
  const Id id = file_->call.create_row(id_, std::string(name).c_str(), type, space, standard,
                                       standard, standard);
  file_->call.close_space(space);
  Hdf5Object row(file_, file_->checked(id, name), false);
  if (!values.empty() && file_->call.write_row(id, type, 0, 0, standard, values.data()) < 0)
    throw failed(fmt::format("HDF5 cannot write {}", name));
  return row;
}

void Hdf5Object::text(const char* key, const std::string& value) const {
  const char* letters = value.c_str();
  file_->attribute(id_, key, file_->text_type, &letters);
}

void Hdf5Object::number(const char* key, double value) const {
  file_->attribute(id_, key, *file_->call.number_type, &value);
}

void Hdf5Object::whole(const char* key, std::int64_t value) const {
  file_->attribute(id_, key, *file_->call.whole_type, &value);
}

Hdf5Object new_hdf5(const std::filesystem::path& file, const std::string& library) {
  auto opened = std::make_shared<const Hdf5>(file, library);
  const Id root = opened->id;  // HDF5 takes the file for its root group
  return {std::move(opened), root, true};
}

}  // namespace parajoule::cli
