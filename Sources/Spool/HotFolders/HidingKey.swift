import DarkroomCore

/// Random bits in the record of a batch, which only the daemon can read. With them, nobody can guess the name under which
/// an original is hidden (`HotOriginal`), and a restart finds it.
package struct HidingKey: Sendable, Equatable {
    /// 32 hexadecimal digits.
    let word: String

    package init() {
        let parts = (0..<2).map { _ in String(UInt64.random(in: 0 ... .max), radix: 16) }
        word = parts.map { String(repeating: "0", count: 16 - $0.utf8.count) + $0 }.joined()
    }

    /// nil if the text is none.
    init?(word: String) {
        let isHexadecimal = word.utf8.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
        guard word.utf8.count == 32, isHexadecimal else { return nil }
        self.word = word
    }

    /// The hidden name of a file.
    func name(of identity: ByteString) -> FileName {
        FileName(".darkroom-\(SHA256Digest.hex(of: Array("\(word) \(identity)".utf8)).prefix(32))")
    }
}
