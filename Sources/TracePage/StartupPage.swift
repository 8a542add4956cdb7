/// The style of the article of a start of a program.
public enum StartupPage {
    public static let style = PackageResources.startup_css
}
