import CDarkroomShims

/// The shim's reader of a PNG in a process of its own.
final class ConfinedPNGCalls: ConfinedReader, PNGCalls, @unchecked Sendable {
    private var header = darkroom_png_header()
    private var opened = darkroom_remote_state()
    private var started = darkroom_remote_state()
    private var bytesPerRow = 0
    private var keepsIndices = false

    init(_ input: PictureDecoder.Input, by program: CodecProgram? = nil) throws(PictureError) {
        try super.init(DARKROOM_REMOTE_PNG_NEW, input, program)
    }

    func prefix(_ count: Int) throws(PictureError) -> (darkroom_png_result, [UInt8]) {
        try ask(
            DARKROOM_REMOTE_PNG_PREFIX, "reading the first bytes", count: count
        ) { state, data in
            Int(state.value) <= count
                ? (Self.result(state), Array(data.prefix(Int(state.value)))) : nil
        }
    }

    private static func result(_ state: darkroom_remote_state) -> darkroom_png_result {
        state.result(before: DARKROOM_PNG_MISUSE, otherwise: DARKROOM_PNG_INVALID)
    }

    func open(_ header: inout darkroom_png_header) throws(PictureError) -> darkroom_png_result {
        let most = mostMetadata
        opened = try ask(DARKROOM_REMOTE_PNG_OPEN, "reading the header") { state, _ in
            let png = state.png
            let isPossible =
                (1...UInt32(Int32.max)).contains(png.width)
                && (1...UInt32(Int32.max)).contains(png.height)
                && [0, 2, 3, 4, 6].contains(png.color_type)
                && [1, 2, 4, 8, 16].contains(png.bit_depth)
                && (1...4).contains(png.channels) && [8, 16].contains(png.depth)
                // Indices have a byte each.
                && (png.color_type != 3 || png.depth == 8)
            let hasRoom = state.profile_bytes <= most && state.exif_bytes.0 <= most
            return state.result != 0 || isPossible && hasRoom ? state : nil
        }
        header = opened.png
        self.header = header
        bytesPerRow = Int(header.width) * Int(header.channels) * Int(header.depth) / 8
        return Self.result(opened)
    }

    func start(_ decoder: darkroom_png_decoder) throws(PictureError) -> darkroom_png_result {
        // The rows of libpng, and the window.
        permit(memory: 16 * bytesPerRow)
        started = try ask(
            DARKROOM_REMOTE_PNG_START, "preparing to read rows", first: Int(decoder.rawValue)
        ) { state, _ in state.palette_count <= 256 ? state : nil }
        return Self.result(started)
    }

    var palette: [UInt8]? {
        let count = Int(started.palette_count)
        return count == 0
            ? nil
            : withUnsafePointer(to: started) {
                Array(UnsafeBufferPointer(start: darkroom_remote_palette($0), count: 4 * count))
            }
    }

    func keepIndices() throws(PictureError) {
        try ask(DARKROOM_REMOTE_PNG_KEEP_INDICES, "preparing to read rows")
        bytesPerRow = Int(header.width)
        keepsIndices = true
    }

    func keepData() throws(PictureError) -> Bool {
        try ask(DARKROOM_REMOTE_PNG_KEEP_DATA, "preparing to read rows") { state, _ in
            state.value != 0
        }
    }

    func takeData(
        _ memory: UnsafeMutableBufferPointer<UInt8>, isEnd: Bool
    ) throws(PictureError) -> Int {
        try ask(
            DARKROOM_REMOTE_PNG_TAKE_DATA, "reading the data", first: isEnd ? 1 : 0,
            count: memory.count
        ) { state, data in
            let count = Int(state.value)
            guard count <= memory.count else { return nil }
            UnsafeMutableRawBufferPointer(memory).copyMemory(
                from: UnsafeRawBufferPointer(rebasing: data.prefix(count)))
            return count
        }
    }

    var hasExtraRows: Bool { current.has_extra_rows != 0 }

    func read(
        _ count: Int, to start: UnsafeMutablePointer<UInt8>
    ) throws(PictureError) -> darkroom_png_result {
        let state = try read(
            DARKROOM_REMOTE_PNG_ROWS, count, bytesPerRow, sends: header.interlaced != 0, to: start)
        let result = Self.result(state)
        // An index that the palette does not have would be looked up in it.
        if keepsIndices, result == DARKROOM_PNG_OK {
            let indices = UnsafeBufferPointer(start: start, count: count * bytesPerRow)
            if indices.contains(where: { $0 >= started.palette_count }) {
                return DARKROOM_PNG_PALETTE
            }
        }
        return result
    }

    func finish() throws(PictureError) -> darkroom_png_result {
        try ask(
            DARKROOM_REMOTE_PNG_FINISH, "reading the data after the last row"
        ) { state, _ in Self.result(state) }
    }

    /// The process reads in one step.
    var lineBytes: Int { 0 }

    func fetch(_ count: Int, to start: UnsafeMutablePointer<UInt8>) -> darkroom_png_fetched {
        preconditionFailure("a confined picture is read in one step")
    }

    func undo(
        _ fetched: darkroom_png_fetched, at lines: UnsafePointer<UInt8>, _ count: Int,
        to start: UnsafeMutablePointer<UInt8>
    ) -> darkroom_png_result {
        preconditionFailure("a confined picture is read in one step")
    }

    func colour() throws(PictureError) -> PictureColour {
        let profile = try fact(
            DARKROOM_REMOTE_PNG_FACT, Int(DARKROOM_REMOTE_PROFILE.rawValue),
            bytes: Int(opened.profile_bytes))
        var colour = opened.colour
        (colour.profile, colour.profile_name) = (nil, nil)
        colour.present &= ~UInt32(DARKROOM_PNG_HAS_ICCP)
        var result = PictureColour(colour)
        if let profile {
            let name = withUnsafePointer(to: opened) {
                UnsafeRawBufferPointer(
                    start: darkroom_remote_profile_name($0), count: Int(DARKROOM_REMOTE_TEXT)
                ).prefix { $0 != 0 }
            }
            result.profile = PictureColour.Profile(name: Array(name), bytes: profile)
        }
        return result
    }

    func exif() throws(PictureError) -> [UInt8]? {
        try fact(
            DARKROOM_REMOTE_PNG_FACT, Int(DARKROOM_REMOTE_EXIF.rawValue),
            bytes: Int(opened.exif_bytes.0))
    }

    var hasTransparency: Bool { opened.has_transparency != 0 }

    var chunks: [String] { names }
}
