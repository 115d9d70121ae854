import Glibc
import SystemPackage
import Testing

/// The memory of the process that runs the tests.
enum ProcessMemory {
    /// From now on what is freed goes back to the system at once, so that it counts again when it is taken:
    /// pieces of 64 KiB or more are mapped each for itself. Swift's Glibc does not have the function.
    static func keepNothingFree() throws {
        let symbol = try #require(dlsym(nil, "mallopt"))
        typealias Option = @convention(c) (CInt, CInt) -> CInt
        // M_MMAP_THRESHOLD, which then stays what it is.
        #expect(unsafeBitCast(symbol, to: Option.self)(-3, 64 << 10) == 1)
    }

    /// A line of this process' status, in bytes.
    static func status(_ name: String) throws -> Int {
        let file = try FileDescriptor.open("/proc/self/status", .readOnly)
        let text = try file.closeAfter {
            try String(unsafeUninitializedCapacity: 8192) {
                try file.read(into: UnsafeMutableRawBufferPointer($0))
            }
        }
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("\(name):") })
        let words = line.split { $0 == " " || $0 == "\t" }
        return try #require(Int(words[1])) << 10
    }

    /// By how much the resident memory has grown at most during `body`.
    static func growth(_ body: () throws -> Void) throws -> Int {
        // The peak becomes what is resident now, see proc(5).
        let clear = try FileDescriptor.open("/proc/self/clear_refs", .writeOnly)
        try clear.closeAfter { _ = try clear.writeAll("5".utf8) }
        let before = try status("VmHWM")
        try body()
        return try status("VmHWM") - before
    }
}
