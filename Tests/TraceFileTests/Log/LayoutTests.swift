import CTraceFormat
import Testing

/// The layout as Swift sees it; the C header asserts the same.
@Suite struct LayoutTests {
    @Test func sizes() {
        #expect(MemoryLayout<fathom_trace_header>.size == 128)
        #expect(MemoryLayout<fathom_chunk>.size == 160)
        #expect(MemoryLayout<fathom_path_entry>.size == 24)
        #expect(MemoryLayout<fathom_task>.size == 40)
        #expect(MemoryLayout<fathom_item>.size == 8)
        #expect(MemoryLayout<fathom_process_item>.size == 48)
        #expect(MemoryLayout<fathom_module_item>.size == 48)
        #expect(MemoryLayout<fathom_unload_item>.size == 24)
        #expect(MemoryLayout<fathom_end_item>.size == 24)
        #expect(MemoryLayout<fathom_title_item>.size == 24)
        #expect(MemoryLayout<fathom_buffers>.size == 312)
        #expect(MemoryLayout<fathom_paths_head>.size == 32)
        #expect(MemoryLayout<fathom_path>.size == 64)
        #expect(MemoryLayout<fathom_durations>.size == 128)
        #expect(MemoryLayout<fathom_ring_request>.size == 40)
        #expect(MemoryLayout<fathom_unnamed_item>.size == 24)
        #expect(MemoryLayout<fathom_sleds_item>.size == 56)
        #expect(MemoryLayout<fathom_trigger>.size == 16)
        #expect(MemoryLayout<fathom_function_table>.size == 32)
        #expect(MemoryLayout<fathom_arguments>.size == 16)
        #expect(MemoryLayout<fathom_argument_site>.size == 24)
        #expect(MemoryLayout<fathom_layout>.size == 8)
        #expect(MemoryLayout<fathom_layout_item>.size == 16)
        #expect(MemoryLayout<fathom_function_name>.size == 16)
        #expect(MemoryLayout<fathom_function_request>.size == 1024)
    }

    @Test func offsets() {
        #expect(MemoryLayout<fathom_trace_header>.offset(of: \.clock) == 20)
        #expect(MemoryLayout<fathom_trace_header>.offset(of: \.start_ticks) == 24)
        #expect(MemoryLayout<fathom_trace_header>.offset(of: \.unplaced_calls) == 56)
        #expect(MemoryLayout<fathom_trace_header>.offset(of: \.log_size) == 88)
        #expect(MemoryLayout<fathom_trace_header>.offset(of: \.end_sum) == 120)
        #expect(MemoryLayout<fathom_chunk>.offset(of: \.sequence) == 24)
        #expect(MemoryLayout<fathom_chunk>.offset(of: \.depth) == 96)
        #expect(MemoryLayout<fathom_chunk>.offset(of: \.used) == 116)
        #expect(MemoryLayout<fathom_chunk>.offset(of: \.header_sum) == 136)
        #expect(MemoryLayout<fathom_buffers>.offset(of: \.keeps) == 75)
        #expect(MemoryLayout<fathom_buffers>.offset(of: \.max_paths) == 80)
        #expect(MemoryLayout<fathom_buffers>.offset(of: \.control) == 88)
        #expect(MemoryLayout<fathom_buffers>.offset(of: \.path_count) == 160)
        #expect(MemoryLayout<fathom_path>.offset(of: \.moment) == 32)
        #expect(MemoryLayout<fathom_buffers>.offset(of: \.save_count) == 152)
        #expect(MemoryLayout<fathom_functions>.offset(of: \.triggers) == 32)
        #expect(MemoryLayout<fathom_functions>.offset(of: \.table_count) == 4112)
    }

    /// XXH64 of the reference implementation's own tests.
    @Test func sums() {
        #expect(fathom_hash("", 0) == 0xef46_db37_51d8_e999)
        #expect(fathom_hash("abc", 3) == 0x44bc_2cf5_ad77_0999)
        let text = "Nobody inspects the spammish repetition"
        #expect(fathom_hash(text, text.utf8.count) == 0xfbce_a83c_8a37_8bf1)
    }

    /// A sum does not depend on where its bytes are cut in two.
    @Test func sumsOfTwoPieces() {
        let bytes = (0..<300).map { UInt8(truncatingIfNeeded: $0 * 7) }
        for size in [0, 1, 31, 32, 33, 96, 299, 300] {
            for head in stride(from: 0, through: size, by: Int(FATHOM_HASH_STRIPE)) {
                bytes.withUnsafeBytes {
                    let sum = fathom_hash_of_two($0.baseAddress, head, $0.baseAddress! + head, size - head)
                    #expect(sum == fathom_hash($0.baseAddress, size), "\(size) bytes, cut at \(head)")
                }
            }
        }
    }
}
