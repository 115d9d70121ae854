/// Reads property lists, XML and binary.
///
/// Foundation's reader is not used: it keeps one of two equal keys without an error, it has no places, and it recurses
/// as deep as the file demands.
package enum PropertyListReader {
    package static func read(
        _ bytes: [UInt8], budget: NodeBudget
    ) throws(ManifestProblem) -> Document.Node {
        if bytes.starts(with: "bplist".utf8) {
            return try BinaryPropertyListReader.read(bytes, budget: budget)
        }
        return try XMLPropertyListReader.read(bytes, budget: budget)
    }
}
