import DarkroomCore

/// Identifies a response in the cache: the SHA-256 of the request and its credentials.
///
/// It includes the whole URL except the fragment, which servers do not see. It includes user and password, so that
/// nobody gets a response to the request of another user. It includes the configured headers of the URL's origin for
/// the same reason.
package struct CacheKey: Sendable, Hashable {
    /// 32 bytes, as four numbers, because an array would need twice the memory.
    private let words: SIMD4<UInt64>

    package static let length = 32

    /// - Parameter headers: the configured headers of this URL's origin, in their order.
    package init(url: RemoteURL, headers: [(name: String, value: String)] = []) {
        var digest = SHA256Digest()
        Self.add(url.requested.utf8, to: &digest)
        for header in headers {
            Self.add(ByteString(header.name).asciiLowercased.utf8, to: &digest)
            Self.add(header.value.utf8, to: &digest)
        }
        self.init(bytes: digest.bytes())
    }

    /// The length comes first, so that two different lists of texts never give the same bytes.
    private static func add(_ text: some Collection<UInt8>, to digest: inout SHA256Digest) {
        withUnsafeBytes(of: UInt64(text.count).littleEndian) { digest.update($0) }
        digest.update(text)
    }

    /// The key with these 32 bytes, for example those of a digest.
    package init(bytes: some Collection<UInt8>) {
        precondition(bytes.count == Self.length)
        var words = SIMD4<UInt64>()
        for (index, byte) in bytes.enumerated() {
            words[index / 8] = words[index / 8] << 8 | UInt64(byte)
        }
        self.words = words
    }

    package var bytes: [UInt8] {
        (0..<Self.length).map { UInt8(truncatingIfNeeded: words[$0 / 8] >> (56 - 8 * ($0 % 8))) }
    }

    // MARK: The file

    /// One of 256 folders.
    var folder: FileName {
        FileName(bytes: Hexadecimal.digits(of: UInt8(truncatingIfNeeded: words[0] >> 56)))
    }

    /// The file in this folder: the digits that are not in the name of the folder.
    var file: FileName { FileName(bytes: bytes.dropFirst().flatMap(Hexadecimal.digits)) }

    /// The key of a file; nil for any other file.
    init?(folder: FileName, file: FileName) {
        let text = folder.bytes + file.bytes
        guard folder.bytes.count == 2, text.count == 2 * Self.length else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: text.count, by: 2) {
            guard let high = Hexadecimal.value(of: text[index]),
                let low = Hexadecimal.value(of: text[index + 1])
            else { return nil }
            bytes.append(high << 4 | low)
        }
        self.init(bytes: bytes)
    }
}
