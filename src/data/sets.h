#pragma once

// One function a data set, each in a file of its own; catalog.cpp lists them.

#include "data/catalog.h"

namespace parajoule::data {

Kind fashion_mnist();
Kind idx();
Kind cifar10();
Kind cifar100();
Kind images();

}  // namespace parajoule::data
