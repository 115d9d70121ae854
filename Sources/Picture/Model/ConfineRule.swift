/// Which pictures are decoded in a confined process of their own, a child of a codec program.
package enum ConfineRule: String, Sendable, CaseIterable, Codable {
    /// All but PNG and JPEG, which this process decodes with code that is tested and fuzzed for it.
    case others
    /// PNG and JPEG too: the same code in such a process. Pixels, bytes and messages are the same; each picture costs
    /// about a millisecond more.
    case all
}
