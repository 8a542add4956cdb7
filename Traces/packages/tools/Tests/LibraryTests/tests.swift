import Library
import Testing
import XCTest

@Test func twiceByTesting() { #expect(twice(1) + twice(2) == 6) }

final class LibraryTests: XCTestCase {
    func testTwice() { XCTAssertEqual(twice(1) + twice(2) + twice(3), 12) }
}
