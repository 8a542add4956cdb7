import TestSupport
import Testing

/// The profiles for speedscope and the Firefox Profiler have the shape that these document: every member that they need, none that
/// they do not know, columns of equal length, and numbers that lead somewhere. What functions, calls and times they hold is for
/// `ExportTests`.
@Suite struct ProfileSchemaTests {
    /// Python that checks a value against a shape. A shape is a function; `here` says where the value stands.
    private static let shapes = """
        import json, sys
        data = json.load(open(sys.argv[1]))
        assert isinstance(data, dict)

        def must(holds, here, value):
            if not holds: sys.exit(f'{here}: {str(value)[:200]}')
        def of(*types):
            def check(value, here):
                # JSON's numbers are no booleans, though Python's are.
                must(isinstance(value, types) and (bool in types or not isinstance(value, bool)), here, value)
            return check
        text, number, flag, whole = of(str), of(int, float), of(bool), of(int)
        def positive(value, here):
            number(value, here)
            must(value >= 0, here, value)
        def one(*values):
            return lambda value, here: must(value in values, here, value)
        def maybe(shape):
            return lambda value, here: value is None or shape(value, here)
        def either(test, first, second):
            return lambda value, here: (first if test(value) else second)(value, here)
        def array(shape):
            def check(value, here):
                must(isinstance(value, list), here, value)
                for index, each in enumerate(value): shape(each, f'{here}[{index}]')
            return check
        def into(table):
            \"""A number of a row of a table.\"""
            def check(value, here):
                whole(value, here)
                must(0 <= value < table(), here, value)
            return check
        def members(needed, others={}):
            def check(value, here):
                must(isinstance(value, dict), here, value)
                for name in needed: must(name in value, f'{here}.{name} is missing', sorted(value))
                for name, each in value.items():
                    shape = needed.get(name) or others.get(name)
                    must(shape is not None, f'{here}.{name} is not known', each)
                    shape(each, f'{here}.{name}')
            return check
        def table(needed, others={}, fixed={}):
            \"""Columns as long as the table; `fixed` are members of it that are none.\"""
            def check(value, here):
                members({**{name: array(shape) for name, shape in needed.items()}, **fixed, 'length': whole},
                    {name: array(shape) for name, shape in others.items()})(value, here)
                for name in [*needed, *others]:
                    must(name not in value or len(value[name]) == value['length'], f'{here}.{name}', 'its length')
            return check
        def rising(values, here):
            must(all(a <= b for a, b in zip(values, values[1:])), here, 'it falls')

        """

    /// https://www.speedscope.app/file-format-schema.json, and what its importer refuses besides.
    private static let speedscope = """
        frames = data['shared']['frames']
        event = members({'type': one('O', 'C'), 'frame': into(lambda: len(frames)), 'at': number})
        profile = members({
            'type': one('evented'), 'name': text, 'startValue': number, 'endValue': number, 'events': array(event),
            'unit': one('none', 'nanoseconds', 'microseconds', 'milliseconds', 'seconds', 'bytes')})
        frame = members({'name': text}, {'file': text, 'line': number, 'col': number})
        members({
            '$schema': one('https://www.speedscope.app/file-format-schema.json'), 'profiles': array(profile),
            'shared': members({'frames': array(frame)})},
            {'name': text, 'activeProfileIndex': number, 'exporter': text})(data, 'file')
        must(data['profiles'], 'file', 'no profile')
        for index, each in enumerate(data['profiles']):
            here, times, stack = f'profiles[{index}]', [event['at'] for event in each['events']], []
            rising([each['startValue'], *times, each['endValue']], here)
            for event in each['events']:
                if event['type'] == 'O': stack.append(event['frame'])
                else: must(stack and stack.pop() == event['frame'], here, 'a call closes that is not the innermost')
            must(not stack, here, 'calls stay open')
        print('fits')
        """

    /// Types of the profiler's processed profile, of the version that the export names.
    private static let firefox = """
        shared, meta = data['shared'], data['meta']
        strings = into(lambda: len(shared['stringArray']))
        rows = lambda name: into(lambda: shared[name]['length'])
        categories = into(lambda: len(meta['categories']))
        colours = one('transparent', 'purple', 'green', 'orange', 'yellow', 'lightblue', 'blue', 'brown', 'magenta', 'red',
            'lightred', 'darkgrey', 'grey')
        none = one(None)
        category = members({'name': text, 'color': colours, 'subcategories': array(text)})
        # https://github.com/firefox-devtools/profiler/blob/main/docs-developer/markers.md
        marker = members({'name': text, 'display': array(one('marker-chart', 'marker-table', 'timeline-overview')),
            'fields': array(members({'key': text, 'format': one('decimal')}, {'label': text}))},
            {'graphs': array(members({'key': text, 'type': one('line', 'bar', 'line-filled')}, {'color': text}))})
        members({
            'interval': positive, 'startTime': positive, 'processType': whole, 'product': text, 'stackwalk': one(0, 1),
            'version': whole, 'preprocessedProfileVersion': one(62), 'markerSchema': array(marker),
            'categories': array(category)},
            {'debug': flag, 'symbolicated': flag, 'usesOnlyOneStackType': flag, 'sourceCodeIsNotOnSearchfox': flag,
             'sampleUnits': members({'time': one('ms'), 'eventDelay': one('ms'),
                'threadCPUDelta': one('ns', 'µs', 'variable CPU cycles')}),
             'extensions': table({'id': text, 'name': text, 'baseURL': text})})(meta, 'meta')
        must(any(each['color'] == 'grey' for each in meta['categories']), 'meta', 'no default category')
        must(all(each['subcategories'][:1] == ['Other'] for each in meta['categories']), 'meta', 'no subcategory')
        value = maybe(members({'type': one(*[each['name'] for each in meta['markerSchema']]), 'value': maybe(number)}))
        thread = members({
            'name': text, 'processType': text, 'processStartupTime': positive, 'processShutdownTime': maybe(positive),
            'registerTime': positive, 'unregisterTime': maybe(positive), 'pausedRanges': one([]), 'isMainThread': flag,
            'pid': text, 'tid': of(str, int),
            'samples': table({'stack': maybe(rows('stackTable')), 'weight': positive, 'time': positive},
                {'threadCPUDelta': maybe(positive)}, fixed={'weightType': one('tracing-ms')}),
            'markers': table({'name': strings, 'startTime': maybe(positive), 'endTime': maybe(positive),
                'data': value, 'phase': one(0, 1, 2, 3), 'category': categories})},
            {'processName': text, 'showMarkersInTimeline': flag})
        counter = members({
            'name': text, 'category': text, 'description': text, 'pid': text,
            'mainThreadIndex': into(lambda: len(data['threads'])),
            'samples': table({'time': positive, 'count': number})},
            {'color': one('blue', 'green', 'grey', 'ink', 'magenta', 'orange', 'purple', 'red', 'teal', 'yellow')})
        library = members({'arch': text, 'name': text, 'path': text, 'debugName': text, 'debugPath': text,
            'breakpadId': text, 'codeId': maybe(text)})
        optional = lambda name: either(lambda value: value == -1, whole, rows(name))
        members({
            'meta': lambda *_: None, 'libs': array(library), 'threads': array(thread),
            'shared': members({
                'stringArray': array(text),
                'stackTable': table({'frame': rows('frameTable'), 'prefix': maybe(rows('stackTable'))}),
                'frameTable': table({
                    'address': one(-1), 'inlineDepth': one(0), 'category': maybe(categories), 'subcategory': maybe(one(0)),
                    'func': rows('funcTable'), 'nativeSymbol': maybe(rows('nativeSymbols')), 'innerWindowID': maybe(whole),
                    'line': maybe(positive), 'column': maybe(positive)}),
                'funcTable': table({
                    'name': strings, 'isJS': flag, 'relevantForJS': flag, 'resource': optional('resourceTable'),
                    'source': maybe(rows('sources')), 'lineNumber': maybe(positive), 'columnNumber': maybe(positive)}),
                'nativeSymbols': table({'libIndex': whole, 'address': whole, 'name': strings, 'functionSize': maybe(whole)}),
                'resourceTable': table({
                    'lib': maybe(into(lambda: len(data['libs']))), 'name': strings, 'host': maybe(strings), 'type': one(1)}),
                'sources': table({
                    'id': maybe(text), 'filename': strings, 'startLine': positive, 'startColumn': positive,
                    'sourceMapURL': maybe(strings)})})},
            {'pages': array(text), 'profilerOverhead': one([]), 'counters': array(counter)})(data, 'profile')
        must(data['threads'], 'profile', 'no thread')
        # A stack's callers come before it, so that the profiler can walk the table once.
        prefixes = shared['stackTable']['prefix']
        must(all(prefix is None or prefix < stack for stack, prefix in enumerate(prefixes)), 'stackTable', 'a later caller')
        for index, each in enumerate(data['threads']): rising(each['samples']['time'], f'threads[{index}].samples')
        for each in data['counters']: rising(each['samples']['time'], 'counters')
        print('fits')
        """

    private func expectFit(_ schema: String, _ file: String) throws {
        let checked = try run("python3", ["-c", Self.shapes + schema, file], seconds: 300)
        #expect(checked.stdout == "fits\n", "\(checked.stderr.suffix(500))")
    }

    @Test(arguments: ExportRecording.Program.allCases) func speedscope(_ program: ExportRecording.Program) throws {
        try expectFit(Self.speedscope, try ExportRecording.of(program).export("speedscope"))
    }

    @Test(arguments: ExportRecording.Program.allCases) func firefox(_ program: ExportRecording.Program) throws {
        try expectFit(Self.firefox, try ExportRecording.of(program).export("firefox"))
    }

    /// The same of a recording with marks and counters in two threads.
    @Test func marksAndCounters() throws {
        let directory = try TemporaryDirectory("schema")
        let session = directory.file("session.fathom")
        _ = try Fathom.record([try Binaries.instrumented("control.c", .gccO0)], into: session)
        for (format, schema) in [("speedscope", Self.speedscope), ("firefox", Self.firefox)] {
            let file = directory.file("profile.\(format).json")
            #expect(try Fathom.run(["export", session, "--format", format, "-o", file]).status == 0)
            try expectFit(schema, file)
            let text = String(decoding: try readFile(file), as: UTF8.self)
            #expect(format == "speedscope" || text.contains("\"name\":\"queued\""))
        }
    }

    /// The check finds what is wrong with a file.
    @Test func brokenProfilesAreFound() throws {
        let recording = try ExportRecording.of(.names)
        let directory = try TemporaryDirectory("broken")
        let faults = [
            ("speedscope", #""type":"O""#, #""type":"X""#), ("speedscope", #""unit":"nanoseconds""#, #""unit":"ns""#),
            ("speedscope", #""exporter":"#, #""export":"#), ("firefox", #""prefix":[null"#, #""prefix":[5"#),
            ("firefox", #""color":"grey""#, #""color":"gray""#), ("firefox", #""tid":""#, #""id":""#),
            ("firefox", #""stack":["#, #""stack":[null,"#),
        ]
        for (format, right, wrong) in faults {
            let text = String(decoding: try readFile(try recording.export(format)), as: UTF8.self)
            let place = try #require(text.firstRange(of: right), "\(right)")
            let file = try directory.write(text.replacingCharacters(at: place, by: wrong), to: "broken.json")
            let schema = format == "firefox" ? Self.firefox : Self.speedscope
            #expect(try run("python3", ["-c", Self.shapes + schema, file]).status == 1, "\(wrong)")
        }
    }
}

extension String {
    fileprivate func replacingCharacters(at range: Range<Index>, by text: String) -> String {
        String(self[..<range.lowerBound]) + text + self[range.upperBound...]
    }
}
