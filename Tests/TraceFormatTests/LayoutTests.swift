import CTraceFormat
import Testing

/// The layout as Swift sees it; the C header asserts the same.
@Suite struct LayoutTests {
    @Test func sizes() {
        #expect(MemoryLayout<fathom_trace_header>.size == 88)
        #expect(MemoryLayout<fathom_chunk>.size == 160)
        #expect(MemoryLayout<fathom_path_entry>.size == 24)
        #expect(MemoryLayout<fathom_task>.size == 40)
        #expect(MemoryLayout<fathom_item>.size == 8)
        #expect(MemoryLayout<fathom_process_item>.size == 48)
        #expect(MemoryLayout<fathom_module_item>.size == 48)
        #expect(MemoryLayout<fathom_unload_item>.size == 24)
        #expect(MemoryLayout<fathom_end_item>.size == 24)
        #expect(MemoryLayout<fathom_buffers>.size == 120)
    }

    @Test func offsets() {
        #expect(MemoryLayout<fathom_trace_header>.offset(of: \.clock) == 20)
        #expect(MemoryLayout<fathom_trace_header>.offset(of: \.start_ticks) == 24)
        #expect(MemoryLayout<fathom_chunk>.offset(of: \.sequence) == 24)
        #expect(MemoryLayout<fathom_chunk>.offset(of: \.depth) == 96)
        #expect(MemoryLayout<fathom_chunk>.offset(of: \.used) == 116)
        #expect(MemoryLayout<fathom_chunk>.offset(of: \.header_sum) == 136)
        #expect(MemoryLayout<fathom_buffers>.offset(of: \.control) == 80)
    }
}
