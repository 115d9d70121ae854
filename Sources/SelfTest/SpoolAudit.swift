import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import Glibc

/// Checks a test's spool against Darkroom's guarantee: each manifest has exactly one place or one answer, and each
/// picture is complete under its name or its failure has a reason.
package struct SpoolAudit {
    /// The result for an image of a run without faults.
    package enum Expected: Equatable, Sendable {
        case filtered(file: String, [UInt8])
        case failed(code: String)
    }

    /// By the kind of the manifest and the name of the image.
    package typealias Reference = [String: [String: Expected]]

    package let spool: TestSpool
    package let reference: Reference
    /// Whether the test's faults may cause this failure.
    package var mayFail: (Failure) -> Bool = { _ in false }
    /// Whether the test's faults may refuse progress files and pages.
    package var mayLackProgress = false

    package private(set) var manifests = 0
    package private(set) var images = 0
    package private(set) var failedByFault = 0
    package private(set) var lost: [String] = []
    package private(set) var duplicated: [String] = []
    /// Files that differ from those of a run without faults, and statuses that do not match the files.
    package private(set) var differing: [String] = []
    private var ended: Set<String> = []
    /// IDs of batches that may be processed again after their end.
    private var retried: Set<String> = []
    /// IDs of batches whose answers somebody has asked to remove.
    private var removed: Set<String> = []
    private var counted: Set<String> = []

    package init(_ spool: TestSpool, _ reference: Reference) {
        self.spool = spool
        self.reference = reference
    }

    package var problems: [String] {
        lost.map { "lost: \($0)" } + duplicated.map { "duplicated: \($0)" }
            + differing.map { "differing: \($0)" }
    }

    // MARK: Places

    /// Checks the spool while no daemon uses it.
    ///
    /// - Parameter isFinal: whether all batches must have ended.
    package mutating func look(isFinal: Bool) throws(SelfTestError) {
        let inbox = try spool.names("inbox").map(\.text)
        // IDs do not begin with a dot. Entries with a dot belong to the daemon and do not exist when all work is
        // finished.
        let everything = try spool.names("active")
        let active = everything.filter { !$0.text.hasPrefix(".") }
        let outbox = Set(try spool.names("outbox"))
        var places: [String: Int] = [:]
        for name in inbox {
            if let id = manifestID(name) { places[id, default: 0] += 1 }
        }
        for id in active where !outbox.contains(id) {
            if try holdsManifest(id) { places[base(id.text), default: 0] += 1 }
        }
        for id in outbox {
            places[base(id.text), default: 0] += 1
            if retried.contains(id.text) { ended.remove(id.text) }
            if !ended.contains(id.text) { try look(at: id, isActive: active.contains(id)) }
        }
        for (id, (_, times)) in spool.dropped {
            let found = places[id] ?? 0
            let gone = removed.contains(id) && !outbox.contains(FileName(id)) ? 1 : 0
            if found < times - gone { lost.append("\(id): found \(found) of \(times)") }
            if found > times { duplicated.append("\(id): found \(found) instead of \(times)") }
        }
        for id in places.keys where spool.dropped[id] == nil {
            duplicated.append("\(id) was never submitted")
        }
        if isFinal {
            try lookForGivenBack()
            for name in inbox { lost.append("inbox/\(name) was not taken") }
            for id in everything { lost.append("active/\(id.text) still exists") }
            for id in removed where outbox.contains(FileName(id)) {
                duplicated.append("outbox/\(id) was not removed")
            }
            for id in outbox where !ended.contains(id.text) {
                lost.append("outbox/\(id.text) has not ended")
            }
        }
    }

    /// Checks that each manifest that was too large for its entry in the outbox is in `tmp`, as often as it was
    /// submitted.
    private mutating func lookForGivenBack() throws(SelfTestError) {
        let names = try spool.names("tmp").map(\.text)
        for (id, (manifest, times)) in spool.dropped where manifest.isTooLarge {
            let found = names.count { $0.hasPrefix("\(id).") }
            if found < times { lost.append("\(id): found \(found) of \(times) in tmp") }
            if found > times {
                duplicated.append("\(id): found \(found) in tmp instead of \(times)")
            }
        }
    }

    /// Forgets all results, because the spool has been cleared. The sums stay.
    package mutating func forget() {
        ended = []
        retried = []
        removed = []
        counted = []
    }

    /// Has the batch checked each time, because its failed images are retried.
    package mutating func expectRetry(of id: String) { retried.insert(id) }

    /// Expects that the answer disappears.
    package mutating func expectRemoval(of id: String) { removed.insert(id) }

    /// The ID that a manifest in the inbox would get; nil for other files.
    private func manifestID(_ name: String) -> String? {
        if spool.dropped[name]?.manifest.pictures.isEmpty == false { return name }
        for format in ManifestFormat.allCases where name.hasSuffix(".\(format.rawValue)") {
            return String(name.dropLast(format.rawValue.count + 1))
        }
        return nil
    }

    /// The ID without the number that makes it unique.
    private func base(_ id: String) -> String {
        guard spool.dropped[id] == nil, let hyphen = id.lastIndex(of: "-"),
            Int(id[id.index(after: hyphen)...]) != nil
        else { return id }
        return String(id[..<hyphen])
    }

    /// If a claim stopped before the manifest was moved, its folder has no manifest. The only copy may be in the
    /// receipt, on its way to the outbox.
    private func holdsManifest(_ id: FileName) throws(SelfTestError) -> Bool {
        try onFiles { () throws(FileError) in
            let folder = try Directory(id, in: Directory(path: "\(spool.path)/active"))
            if try SubmittedFile(in: folder) != nil { return true }
            var folders = [folder]
            if try folder.exists(BatchFile.receipt) {
                folders.append(try Directory(BatchFile.receipt, in: folder))
            }
            for folder in folders {
                for format in ManifestFormat.allCases
                where try folder.exists(BatchFile.manifest(format)) { return true }
            }
            return false
        }
    }

    // MARK: Answers

    private mutating func look(at id: FileName, isActive: Bool) throws(SelfTestError) {
        guard let manifest = spool.dropped[base(id.text)]?.manifest else { return }
        guard let bytes = try spool.outboxFile(id, BatchFile.status),
            let status = Status(decoding: bytes)
        else {
            differing.append("outbox/\(id.text) has no readable status")
            return
        }
        if !status.state.isFinal, !isActive {
            lost.append("\(id.text) is \(status.state), but active/\(id.text) does not exist")
        }
        let file = status.manifest.file
        if let redacted = status.manifest.redacted {
            try compareRedacted(id, file ?? "", redacted, manifest)
        } else if let file, try spool.outboxFile(id, FileName(file)) != Array(manifest.text.utf8) {
            differing.append("outbox/\(id.text)/\(file) differs from the manifest")
        } else if manifest.text.contains(SampleManifest.password) {
            differing.append("outbox/\(id.text) shows a password")
        }
        if (file == nil) != manifest.isTooLarge {
            differing.append("outbox/\(id.text) has \(file ?? "no manifest")")
        }
        var found = compare(status, manifest)
        found += try compareFiles(of: id, status, manifest)
        found += try compareProgress(of: id, status, hasEnded: status.state.isFinal && !isActive)
        differing += found
        guard status.state.isFinal, !isActive else { return }
        ended.insert(id.text)
        guard counted.insert(id.text).inserted else { return }
        manifests += 1
        images += status.images.count
    }

    /// Compares the redacted copy with what the status says about it, and the exact one with the manifest. A crash in a
    /// removal may leave an answer without the exact one.
    private mutating func compareRedacted(
        _ id: FileName, _ file: String, _ copy: Status.ManifestReference.RedactedCopy,
        _ manifest: SampleManifest
    ) throws(SelfTestError) {
        let bytes = try spool.outboxFile(id, FileName(file)) ?? []
        if SHA256Digest.hex(of: bytes) != copy.sha256
            || String(decoding: bytes, as: UTF8.self).contains(SampleManifest.password)
        {
            differing.append("outbox/\(id.text)/\(file) is not the redacted copy")
        }
        let exact = try spool.exactManifest(FileName("\(id.text).\(manifest.format.rawValue)"))
        if exact != Array(manifest.text.utf8), exact != nil || !removed.contains(id.text) {
            differing.append("private/\(id.text) is not the manifest")
        }
    }

    private mutating func compare(_ status: Status, _ manifest: SampleManifest) -> [String] {
        var wrong: [String] = []
        let counts = ImageState.allCases.map { state in
            status.images.count { $0.state == state }
        }
        if counts != ImageState.allCases.map({ status.counts[$0] })
            || status.counts.warnings != status.images.count(where: \.isWarned)
        {
            wrong.append("\(status.id): its counts differ from its images")
        }
        guard let outcome = manifest.outcome else {
            if status.state != .rejected { wrong.append("\(status.id) is \(status.state)") }
            return wrong
        }
        if status.images.count != outcome.filtered + outcome.failed || status.state == .rejected {
            wrong.append("\(status.id) is \(status.state) and has \(status.images.count) images")
        }
        for image in status.images {
            let expected = reference[manifest.kind]?[image.name]
            let name = "\(status.id): \(image.name)"
            switch (image.state, image.error, expected) {
            case (.filtered, _, .filtered): break
            case (.cancelled, _, _) where manifest.isCancelled: break
            case (.failed, let error?, .failed(let code)) where error.code == code: break
            case (.failed, let error?, _) where mayFail(error):
                failedByFault += 1
            case (.failed, let error, _):
                wrong.append("\(name) failed: \(error.map { "\($0)" } ?? "no reason")")
            case (_, _, _) where image.state.isFinal || status.state.isFinal:
                wrong.append("\(name) is \(image.state)")
            default: break
            }
        }
        return wrong
    }

    /// The errors in the files next to a status. A file with its final name is always complete. The status may be
    /// older.
    private func compareFiles(
        of id: FileName, _ status: Status, _ manifest: SampleManifest
    ) throws(SelfTestError) -> [String] {
        var wrong: [String] = []
        var outputs: [FileName: [UInt8]] = [:]
        for case .filtered(let file, let bytes) in (reference[manifest.kind] ?? [:]).values {
            outputs[FileName(file)] = bytes
        }
        let folders = Set(outputs.keys.flatMap { OutputPath.folders(of: $0.text) })
        let names = try onFiles { () throws(FileError) in
            let answer = try Directory(id, in: Directory(path: "\(spool.path)/outbox"))
            var names = try answer.names().filter { !folders.contains(ByteString($0.text)) }
            for folder in folders where try answer.exists(FileName(folder.string)) {
                let path = FileName(folder.string)
                names += try Directory(path, in: answer).names().map { path / $0 }
                    .filter { !folders.contains(ByteString($0.text)) }
            }
            return names
        }
        wrong += try compareSizes(of: id, status)
        let ours =
            [BatchFile.status, BatchFile.progress, ResultSizes.fileName]
            + (status.manifest.file.map { [FileName($0)] } ?? [])
        if manifest.hasPage { wrong += try comparePage(of: id, isFinal: status.state.isFinal) }
        for name in names
        where !ours.contains(name) && !(manifest.hasPage && name == BatchFile.page) {
            if name == BatchFile.originals {
                if try !spool.holdsOriginals(of: manifest, in: id) {
                    wrong.append(
                        "outbox/\(id.text)/\(name.text) is not the folder that was submitted")
                }
                continue
            }
            if try spool.outboxFile(id, name) != outputs[name] {
                wrong.append("outbox/\(id.text)/\(name.text) differs from a run without kills")
            }
        }
        for image in status.images where image.state == .filtered {
            guard let output = image.output, names.contains(FileName(output.file)) else {
                wrong.append("\(id.text): \(image.name) is filtered, but has no file")
                continue
            }
            if let bytes = outputs[FileName(output.file)],
                output.sha256 != SHA256Digest.hex(of: bytes)
            {
                wrong.append("\(id.text): the digest of \(image.name) differs from its file")
            }
        }
        return wrong
    }
}

extension SpoolAudit {
    /// The errors in the page next to a status. A page is whole whenever it is there, and it is there before the end.
    private func comparePage(of id: FileName, isFinal: Bool) throws(SelfTestError) -> [String] {
        let folder = "outbox/\(id.text)/\(BatchFile.page.text)"
        guard try spool.exists(FileName(folder)) else {
            return isFinal && !mayLackProgress ? ["\(folder) is missing"] : []
        }
        return try onFiles { () throws(FileError) in
            let page = try Directory(path: "\(spool.path)/\(folder)")
            guard try page.exists(AnswerPage.marker), try page.exists("index.html"),
                try page.read("index.html").suffix(8).elementsEqual("</html>\n".utf8)
            else { return ["\(folder) is not whole"] }
            return []
        }
    }

    /// The errors in `sizes.json` next to a status. It is there before the end.
    private func compareSizes(of id: FileName, _ status: Status) throws(SelfTestError) -> [String] {
        guard status.state.isFinal else { return [] }
        var sizes = ResultSizes(id: id.text)
        for image in status.images { sizes.add(image) }
        let isUseful = sizes.areUseful
        return try spool.outboxFile(id, ResultSizes.fileName) == (isUseful ? sizes.end() : nil)
            ? [] : ["outbox/\(id.text)/\(ResultSizes.fileName.text) is not that of the status"]
    }

    private func compareProgress(
        of id: FileName, _ status: Status, hasEnded: Bool
    ) throws(SelfTestError) -> [String] {
        guard let bytes = try spool.outboxFile(id, BatchFile.progress) else {
            let isTooEarly = !hasEnded && status.counts.total <= BatchProgress.fewImages
            return mayLackProgress || isTooEarly ? [] : ["outbox/\(id.text) has no progress"]
        }
        guard let progress = BatchProgress(decoding: bytes), bytes.count <= BatchProgress.capacity
        else { return ["outbox/\(id.text) has no readable progress"] }
        guard hasEnded, !progress.saysTheSame(as: BatchProgress(of: status)) else { return [] }
        return ["\(id.text): its progress differs from its status"]
    }
}
