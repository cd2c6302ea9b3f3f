// For tests: a library that answers like Net-SNMP's, as told.

#include "meter/snmp_stub.h"

#include <cstdio>
#include <cstring>
#include <string>

using parajoule::meter::SnmpStub;

SnmpStub snmp_stub;

namespace {

struct List {
  std::string object;
};

std::string dotted(const unsigned long* name, std::size_t length) {
  std::string text;
  for (std::size_t i = 0; i < length; ++i) text += (i ? "." : "") + std::to_string(name[i]);
  return text;
}

}  // namespace

extern "C" {

int netsnmp_ds_set_boolean(int, int, int) { return 0; }
int netsnmp_ds_set_string(int, int, const char*) { return 0; }
void* netsnmp_register_loghandler(int, int) { return &snmp_stub; }

/// As the real one does, it overwrites what is secret.
int snmp_parse_args(int count, char** words, void* session, const char*,
                    void (*)(int, char* const*, int)) {
  std::string all;
  for (int i = 1; i < count; ++i) all += std::string(i > 1 ? " " : "") + words[i];
  std::snprintf(snmp_stub.words, sizeof snmp_stub.words, "%s", all.c_str());
  for (int i = 2; i < count; ++i)
    if (std::strcmp(words[i - 1], "-c") == 0 || std::strcmp(words[i - 1], "-A") == 0)
      std::memset(words[i], '*', std::strlen(words[i]));
  std::memset(session, 1, 512);
  return snmp_stub.parsed;
}

void* snmp_open(void*) {
  if (!snmp_stub.opens) return nullptr;
  ++snmp_stub.sessions;
  return &snmp_stub;
}

int snmp_close(void*) {
  --snmp_stub.sessions;
  return 1;
}

void* snmp_varlist_add_variable(void** list, const unsigned long* name, std::size_t length,
                                unsigned char, const void*, std::size_t) {
  *list = new List{dotted(name, length)};
  return *list;
}

int netsnmp_query_get(void*, void*) { return snmp_stub.fails; }

int snprint_value(char* text, std::size_t size, const unsigned long*, std::size_t,
                  const void* variable) {
  const std::string& object = static_cast<const List*>(variable)->object;
  const char* value = "No Such Object available on this agent at this OID";
  if (object == SnmpStub::power) value = snmp_stub.power_value;
  if (object == SnmpStub::energy) value = snmp_stub.energy_value;
  return std::snprintf(text, size, "%s", value);
}

void snmp_free_varbind(void* list) { delete static_cast<List*>(list); }
}
