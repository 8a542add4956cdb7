internal import CTally

public protocol Shape {
    func area() -> Int
    func name() -> String
    var sides: Int { get }
}

extension Shape {
    /// What a type without its own has.
    @inline(never) public func name() -> String {
        tally("Shape.name()")
        return "shape of \(sides)"
    }
}

public struct Rectangle: Shape {
    var width: Int
    var height: Int

    @inline(never) public init(width: Int, height: Int) {
        tally("Rectangle.init(width:height:)")
        self.width = width
        self.height = height
    }

    @inline(never) public func area() -> Int {
        tally("Rectangle.area()")
        return width * height
    }

    public var sides: Int {
        @inline(never) get {
            tally("Rectangle.sides.getter")
            return 4
        }
    }

    @inline(never) public static func == (left: Rectangle, right: Rectangle) -> Bool {
        tally("static Rectangle.==(_:_:)")
        return left.width == right.width && left.height == right.height
    }

    public subscript(side: Int) -> Int {
        @inline(never) get {
            tally("Rectangle.subscript.getter")
            return side % 2 == 0 ? width : height
        }
        @inline(never) set {
            tally("Rectangle.subscript.setter")
            if side % 2 == 0 { width = newValue } else { height = newValue }
        }
    }
}

open class Polygon: Shape {
    public var sides: Int {
        @inline(never) get {
            tally("Polygon.sides.getter")
            return count
        }
    }
    let count: Int

    @inline(never) public init(count: Int) {
        tally("Polygon.init(count:)")
        self.count = count
    }

    @inline(never) deinit { tally("Polygon.deinit") }

    @inline(never) open func area() -> Int {
        tally("Polygon.area()")
        return count
    }
}

public final class Star: Polygon {
    @inline(never) override public func area() -> Int {
        tally("Star.area()")
        return super.area() * 2
    }
}

@inline(never) public func total(_ shapes: [any Shape]) -> Int {
    tally("total(_:)")
    var sum = 0
    for shape in shapes { sum += shape.area() + shape.name().count }
    return sum
}

@inline(never) public func largest<Element: Comparable>(_ elements: [Element]) -> Element? {
    tally("largest(_:)")
    var result: Element?
    for element in elements where result == nil || element > result! { result = element }
    return result
}

@inline(never) public func describe<Value: Shape>(_ value: Value, times: Int) -> Int {
    tally("describe(_:times:)")
    return times == 0 ? value.area() : describe(value, times: times - 1) + value.sides
}
