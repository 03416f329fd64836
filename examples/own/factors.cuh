#pragma once

template <class T>
struct Factors {
  T factor;
  const T* bias;
};
