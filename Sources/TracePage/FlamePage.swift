internal import TraceText

/// The parts of a flame graph's page that are the same in every one.
public enum FlamePage {
    public static let style: [UInt8] = PackageResources.common_css + PackageResources.flame_css
    public static let body = PackageResources.flame_html

    /// The modules of the page's script, in the order in which they use each other.
    public static let script: [UInt8] = [
        PackageResources.data_js, PackageResources.words_js, PackageResources.graph_js, PackageResources.sums_js,
        PackageResources.search_js, PackageResources.colours_js, PackageResources.labels_js,
        PackageResources.painter_js, PackageResources.states_js, PackageResources.bands_js,
        PackageResources.view_js, PackageResources.waiting_js, PackageResources.legend_js,
        PackageResources.ruler_js, PackageResources.tip_js, PackageResources.address_js, PackageResources.table_js,
        PackageResources.sandwich_js, PackageResources.panel_js, PackageResources.pointer_js,
        PackageResources.keys_js, PackageResources.page_js,
    ].flatMap(\.self)

    /// The script of a picture that becomes the page in it.
    public static let opener = PackageResources.picture_js

    /// What the policy of the page tells its script and style by.
    public static let scriptSum = SHA256.source(of: script)
    public static let styleSum = SHA256.source(of: style)
}

/// The style of the article of a start of a program.
public enum StartupPage {
    public static let style = PackageResources.startup_css
}
