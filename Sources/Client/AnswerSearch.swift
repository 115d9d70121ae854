import DarkroomAnswer
import DarkroomCore
import DarkroomSpool

/// Finds the batch that a dropped manifest has become.
///
/// The name of the manifest does not tell the ID: a name that is taken gets a number. The batch has the identity of the
/// dropped file, which no other file has. So there is no race, however many submitters use one name.
///
/// Batches that were in the outbox before the file was dropped are other ones, and each further batch is read once.
package struct AnswerSearch {
    private let spool: SpoolFolder
    private let outbox: Directory
    private var others: Set<FileName>

    /// Call this before the file is dropped.
    ///
    /// - Parameter stem: the beginning of all names that the file may get.
    package init(stem: String, in spool: SpoolFolder) throws(ClientError) {
        self.spool = spool
        outbox = try spool.outbox()
        let beginning = Array(Claim.id(fromFileName: stem + ".json").utf8)
        others = Set(try asClientError(outbox.names()).filter { $0.bytes.starts(with: beginning) })
    }

    /// The ID of the batch; nil if the daemon has not taken the file yet.
    ///
    /// - Parameters:
    ///   - name: the name under which the file or folder was dropped.
    ///   - identity: of the dropped file or folder.
    package mutating func find(
        _ name: FileName, isFolder: Bool = false, identity: String
    ) throws(ClientError) -> String? {
        let base = Array(Claim.id(of: name.text, isFolder: isFolder).utf8)
        let present = try asClientError(outbox.names()).filter { Self.isCandidate($0, of: base) }
        // The ID of a batch that was removed may be given again.
        others.formIntersection(present)
        for candidate in present where !others.contains(candidate) {
            guard let found = try identityOfBatch(candidate) else { continue }
            if found == identity { return candidate.text }
            others.insert(candidate)
        }
        return nil
    }

    /// Whether the name is `base`, or `base` with a number from 2 on.
    static func isCandidate(_ name: FileName, of base: [UInt8]) -> Bool {
        guard name.bytes.starts(with: base) else { return false }
        let rest = name.bytes.dropFirst(base.count)
        if rest.isEmpty { return true }
        guard rest.first == UInt8(ascii: "-") else { return false }
        let number = rest.dropFirst()
        return number.allSatisfy(\.isDigit) && !number.elementsEqual("1".utf8)
            && number.first.map { $0 != UInt8(ascii: "0") } ?? false
    }

    /// nil if the batch cannot be read now.
    private func identityOfBatch(_ name: FileName) throws(ClientError) -> String? {
        if let progress = try? spool.progress(of: name.text) { return progress.identity ?? "" }
        guard let batch = try? BatchView(name.text, in: spool).read() else { return nil }
        return batch.identity ?? ""
    }
}
