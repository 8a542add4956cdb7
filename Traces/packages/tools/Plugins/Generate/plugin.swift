import PackagePlugin

@main
struct Generate: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let output = context.pluginWorkDirectoryURL.appending(path: "Generated.swift")
        let tool = try context.tool(named: "generator")
        return [
            .buildCommand(
                displayName: "Generate", executable: tool.url, arguments: [output.path], outputFiles: [output])
        ]
    }
}
