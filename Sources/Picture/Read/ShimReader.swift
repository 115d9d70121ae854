import SystemPackage

/// Common code for the shim's readers of PNG and JPEG.
enum ShimReader {
    /// All strings that `element` returns for 0, 1, …, up to the first NULL.
    static func strings(
        of reader: OpaquePointer, _ element: (OpaquePointer?, Int) -> UnsafePointer<CChar>?
    ) -> [String] {
        var result: [String] = []
        while let string = element(reader, result.count) { result.append(String(cString: string)) }
        return result
    }

    /// A copy of the bytes that `part` returns; nil if there are none.
    static func bytes(
        of reader: OpaquePointer,
        _ part: (OpaquePointer?, UnsafeMutablePointer<Int>?) -> UnsafePointer<UInt8>?
    ) -> [UInt8]? {
        var count = 0
        return part(reader, &count).map { Array(UnsafeBufferPointer(start: $0, count: count)) }
    }

    /// - Parameter place: the file's name and the step.
    static func readFailed(_ place: String, _ number: CInt) -> PictureError {
        PictureError(.readFailed, "\(place): \(Errno(rawValue: number))", isTransient: true)
    }
}
