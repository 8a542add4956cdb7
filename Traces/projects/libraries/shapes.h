#pragma once
#include <vector>

namespace shapes {
struct Shape {
    virtual ~Shape() = default;
    virtual double area() const = 0;
};
struct Square : Shape {
    explicit Square(double side) : side(side) {}
    double area() const override;
    double side;
};
double total(const std::vector<Shape *> &all);
}  // namespace shapes
