internal import TraceText

/// The parts of a flame graph's page that are the same in every one.
enum FlamePage {
    static let style = PackageResources.flame_css

    /// The modules of the page's script, in the order in which they use each other.
    static let script: [UInt8] = [
        PackageResources.data_js, PackageResources.words_js, PackageResources.graph_js, PackageResources.sums_js,
        PackageResources.search_js, PackageResources.colours_js, PackageResources.labels_js,
        PackageResources.painter_js, PackageResources.bands_js, PackageResources.view_js, PackageResources.ruler_js,
        PackageResources.tip_js, PackageResources.address_js, PackageResources.table_js,
        PackageResources.sandwich_js, PackageResources.panel_js, PackageResources.pointer_js,
        PackageResources.keys_js, PackageResources.page_js,
    ].flatMap(\.self)

    /// What the policy of the page tells its script and style by.
    static let scriptSum = SHA256.source(of: script)
    static let styleSum = SHA256.source(of: style)
}

extension SHA256 {
    /// A sum as a content security policy names it: `sha256-` and base 64.
    fileprivate static func source(of bytes: [UInt8]) -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        let sum = SHA256.sum(of: bytes) + [0]  // 33 bytes, of which the last is filling
        var text = ""
        for index in stride(from: 0, to: sum.count, by: 3) {
            let group = Int(sum[index]) << 16 | Int(sum[index + 1]) << 8 | Int(sum[index + 2])
            for shift in [18, 12, 6, 0] { text.append(letters[group >> shift & 63]) }
        }
        return "sha256-" + text.dropLast() + "="
    }
}
