/// Reads property lists, XML and binary.
///
/// Not by Foundation: of two equal keys its reader keeps one and says nothing, it tells no places,
/// and it recurses as deep as the file says.
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
