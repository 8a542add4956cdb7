/// Which call paths of a tree are open, so that their callees show. It knows paths by their functions, and so outlives the
/// tree: a running program's is another one each second.
final class OpenPaths {
    private var isOpen: Bool?
    /// Whether what lies below is open where nothing else is said of it.
    private var opensBelow: Bool?
    private var callees: [UInt32: OpenPaths] = [:]

    /// How things are at some path: what is said of it, and what holds where nothing is.
    struct Place {
        fileprivate let paths: OpenPaths?
        fileprivate let isOpenOtherwise: Bool

        var isOpen: Bool { paths?.isOpen ?? isOpenOtherwise }

        func callee(_ function: UInt32) -> Place {
            Place(paths: paths?.callees[function], isOpenOtherwise: paths?.opensBelow ?? isOpenOtherwise)
        }
    }

    /// The place above the roots.
    var top: Place { Place(paths: self, isOpenOtherwise: false) }

    /// Opens or closes a path.
    ///
    /// - Parameter path: the ids of its functions, the root's first.
    func set(_ path: some Sequence<UInt32>, isOpen: Bool) { node(path).isOpen = isOpen }

    /// Does so with all that lies below it, too.
    func setAll(_ path: some Sequence<UInt32>, isOpen: Bool) {
        let node = node(path)
        node.isOpen = isOpen
        node.opensBelow = isOpen
        node.callees = [:]
    }

    private func node(_ path: some Sequence<UInt32>) -> OpenPaths {
        var node = self
        for function in path {
            if let known = node.callees[function] {
                node = known
                continue
            }
            let made = OpenPaths()
            node.callees[function] = made
            node = made
        }
        return node
    }
}
