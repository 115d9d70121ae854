import DarkroomCore

/// Random bits in the record of a batch, which only the daemon can read. With them, nobody can guess the name under which
/// an original is hidden (`HotOriginal`), and a restart finds it.
package struct HidingKey: Sendable, Equatable {
    /// 32 hexadecimal digits.
    let word: String

    package init() {
        word = Hexadecimal.text(of: (0..<16).map { _ in UInt8.random(in: 0 ... .max) })
    }

    init?(word: String) {
        guard word.utf8.count == 32, word.utf8.allSatisfy({ Hexadecimal.value(of: $0) != nil })
        else { return nil }
        self.word = word
    }

    func name(of identity: ByteString) -> FileName { CopyName.first("\(word) \(identity)") }
}
