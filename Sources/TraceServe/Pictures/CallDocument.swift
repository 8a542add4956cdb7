internal import TraceAnalysis
internal import TraceFile
internal import TraceQuery
internal import TraceText

/// One call, as `tree` tells it.
enum CallDocument {
    static func bytes(of pictures: PictureQuery, _ request: CallRequest) -> [UInt8]? {
        let thread = pictures.threads[request.track], functions = pictures.query.functions
        guard let found = pictures.query.call(of: thread, row: UInt32(request.row), at: request.moment) else {
            return nil
        }
        let call = found.call
        return jsonBytes { json in
            json.object {
                json.field("function", call.function)
                json.field("name", functions[call.function].name)
                json.field("begin", call.start)
                json.field("end", call.start &+ call.total)
                json.field("total", call.total)
                json.field("self", call.selfTime)
                json.field("blocked", call.offCPU?.blocked)
                json.field("wanting", call.offCPU?.runnable)
                json.field("state", "\(call.state)")
                let layouts = thread.process.argumentLayouts
                json.array("arguments", call.arguments.values(by: layouts)) { argument in
                    json.object {
                        json.field("name", argument.name)
                        json.field("value", argument.value)
                    }
                }
                json.field("result", call.result.result(by: layouts))
                json.field("path", found.callers.map { functions[$0].name })
            }
        }
    }
}
