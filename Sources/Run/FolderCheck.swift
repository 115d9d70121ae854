import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import SystemPackage

/// What `darkroom verify` finds in a folder of results.
package struct FolderFinding: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        case missing
        /// A file is not as it was written.
        case differs
        case unreadable
        /// No image has this file.
        case extra
        /// A copy that was delivered is not in its folder any more, was changed there, or cannot be read. Whoever owns
        /// the folder may do with it what they like, so this is no loss of a result.
        case deliveredMissing = "delivered-missing"
        case deliveredDiffers = "delivered-differs"
        case deliveredUnreadable = "delivered-unreadable"
        case sourceChanged = "source-changed"
        case otherBytes = "other-bytes"
        /// Made anew: the image fails.
        case fails

        /// Whether it is about a copy that was delivered, and not about the folder.
        package var isOfDelivery: Bool {
            [.deliveredMissing, .deliveredDiffers, .deliveredUnreadable].contains(self)
        }
    }

    package let kind: Kind
    /// The image that it is about; nil for a file of the folder.
    package let image: String?
    package let file: String
    /// For people.
    package let message: String
}

/// The sums of what was found.
package struct FolderSummary: Sendable, Equatable {
    package let id: String
    package let folder: String
    package let state: BatchState
    package let images: Int
    /// The number of outputs that were compared.
    package internal(set) var outputs = 0
    /// The sum of their lengths.
    package internal(set) var bytes = 0
    package internal(set) var findings = 0
    /// The number of delivered copies that were compared, and of those that are not as they were delivered. These are
    /// not among the findings.
    package internal(set) var delivered = 0
    package internal(set) var deliveredFindings = 0
    /// The number of outputs that are not there, and of those that are not as they were written.
    package internal(set) var missing = 0
    package internal(set) var changed = 0
    /// The images by their states.
    package let counts: Status.Counts
    /// Whether `darkroom run` has made the folder, and not a daemon.
    package let isOfRun: Bool
    /// Whether pictures came with the manifest and were removed when the batch ended.
    package let lacksPictures: Bool
}

/// `darkroom verify`: compares each file of a folder of results with the status, and the status with the manifest.
///
/// The status is read image by image. In memory are the names in the folder, so that files without an image are found,
/// and those of the manifest's images.
package final class FolderCheck {
    package typealias Progress = (_ done: Int, _ total: Int) -> Void

    let folder: Directory
    private let outputCheck: OutputCheck
    private var stream: StatusStream
    private let tell: (FolderFinding) throws -> Void
    /// What `sizes.json` must have.
    private var sizes: ResultSizes
    private var sizesDigest = SHA256Digest()
    private var sizesBytes = 0
    /// The names in the folder that nothing has claimed yet.
    private var unclaimed: Set<FileName> = []
    /// What was claimed in the folders of outputs, by the folders.
    private var claimedIn: [ByteString: Set<FileName>] = [:]
    package private(set) var summary: FolderSummary
    private static let chunk = 1024

    package init(_ path: String, tell: @escaping (FolderFinding) throws -> Void) throws(RunError) {
        let folder = try runError(of: Directory(path: path))
        self.folder = folder
        outputCheck = OutputCheck(outputs: folder, readsContent: true)
        self.tell = tell
        do {
            guard let stream = try StatusStream(in: folder) else {
                throw Self.withoutStatus(folder)
            }
            self.stream = stream
        } catch let error as RunError {
            throw error
        } catch StatusStreamError.file(let error) {
            throw RunError(error)
        } catch {
            throw RunError(unreadableStatusIn: folder)
        }
        let frame = stream.frame
        sizes = ResultSizes(id: frame.id)
        guard frame.state.isFinal else { throw .unfinished(path) }
        summary = FolderSummary(
            id: frame.id, folder: path, state: frame.state, images: frame.counts.total,
            counts: frame.counts,
            isOfRun: (try? folder.exists(FileName(RunFolder.spoolName))) == true,
            lacksPictures: frame.lacksPictures(in: folder))
    }

    private static func withoutStatus(_ folder: Directory) -> RunError {
        let isOfShards = RunPlan.find(in: folder)?.plan.shards != nil
        return isOfShards ? .notMerged(folder.path) : .noRun(folder.path)
    }

    /// The status without its images.
    var frame: Status { stream.frame }

    var path: String { folder.path }

    /// Compares all files.
    ///
    /// - Parameter remember: receives the status of each image in the manifest's order.
    package func run(progress: Progress) throws { try run(progress: progress) { _ in } }

    func run(progress: Progress, remember: (ImageOutline) throws -> Void) throws {
        // First, because reading a large manifest takes the most memory.
        let expected = try expectedImages()
        try compareID()
        unclaimed = Set(try folder.names())
        try claimOwn()
        var isComparable = expected != nil
        var counts = Status.Counts()
        var done = 0
        while true {
            let images = try next()
            if images.isEmpty { break }
            if isComparable, let expected {
                isComparable = try compare(images, from: done, expected)
            }
            let faults = concurrentMap(images) { [outputCheck] image in
                image.state == .filtered ? image.output.flatMap { outputCheck.fault(of: $0) } : nil
            }
            for (image, fault) in zip(images, faults) {
                try remember(image)
                counts.total += 1
                counts.count(image.state, isWarned: image.isWarned)
                claimOriginals(of: image)
                guard image.state == .filtered, let output = image.output else { continue }
                claim(output.file)
                summary.outputs += 1
                summary.bytes = summary.bytes.saturatingAdd(output.bytes)
                guard let fault else { continue }
                let finding = fault.finding(of: image.name.string, output.file)
                if finding.kind == .missing { summary.missing += 1 }
                if finding.kind == .differs { summary.changed += 1 }
                try add(finding)
            }
            try checkDelivered(images)
            done += images.count
            progress(done, summary.images)
        }
        try compareCounts(counts, isComparable ? expected : nil)
        try checkProgress()
        try checkSizes()
        try tellUnclaimed()
    }

    private func tellUnclaimed() throws {
        var surplus = unclaimed
        for (path, claimed) in claimedIn {
            let names = try? Directory(FileName(path.string), in: folder).names()
            surplus.formUnion(
                (names ?? []).filter { !claimed.contains($0) }.map { FileName(path.string) / $0 })
        }
        // NFS, for example, leaves a file `.nfs…` where somebody has an output open that was replaced.
        surplus = surplus.filter { path in
            let name = path.bytes.split(separator: UInt8(ascii: "/")).last ?? []
            return !IgnoredNames.standard.contains(FileName(bytes: name))
        }
        for name in surplus.map(\.text).sorted() {
            try add(
                FolderFinding(
                    kind: .extra, image: nil, file: name, message: "no image has this file"))
        }
    }

    /// Compares the copies in the folders to which outputs were delivered.
    private func checkDelivered(_ images: [ImageOutline]) throws {
        let delivered = images.compactMap { image in
            image.state == .filtered
                ? image.deliveredTo.flatMap { path in
                    image.output.map { (image: image, path: path, output: $0) }
                } : nil
        }
        if delivered.isEmpty { return }
        summary.delivered += delivered.count
        let faults = concurrentMap(delivered) { [outputCheck] in
            outputCheck.fault(of: $0.output, deliveredTo: $0.path)
        }
        for (copy, fault) in zip(delivered, faults) {
            guard let fault else { continue }
            try add(
                FolderFinding(
                    kind: fault.kindOfDelivery, image: copy.image.name.string, file: copy.path,
                    message: fault.message))
        }
    }

    /// Claims the file of an output, and the folders on the way to it.
    private func claim(_ path: String) {
        let components = OutputPath.components(of: path).map { FileName($0.string) }
        unclaimed.remove(components[0])
        for (name, folder) in zip(components.dropFirst(), OutputPath.folders(of: path)) {
            claimedIn[folder, default: []].insert(name)
        }
    }

    /// Compares `sizes.json` with what follows from the status.
    private func checkSizes() throws {
        let name = ResultSizes.fileName
        let isNeeded = sizes.areUseful
        let bytes = sizes.end()
        sizes = ResultSizes(id: frame.id)
        guard isNeeded else { return }
        unclaimed.remove(name)
        sizesDigest.update(bytes)
        let expected = ImageOutline.Output(
            file: name.text, bytes: sizesBytes + bytes.count, sha256: sizesDigest.hex())
        if let fault = outputCheck.fault(of: expected) {
            try add(fault.finding(of: nil, name.text))
        }
    }

    func add(_ finding: FolderFinding) throws {
        if finding.kind.isOfDelivery {
            summary.deliveredFindings += 1
        } else {
            summary.findings += 1
        }
        try tell(finding)
    }

    /// The original of a hot folder's picture (`originals: move`) belongs to the first image that was made of it.
    private func claimOriginals(of image: ImageOutline) {
        guard frame.manifest.isFolder == true, let source = image.source,
            let file = source.utf8.split(separator: UInt8(ascii: "/")).last
        else { return }
        // The first name that no other file had.
        var number = 1
        while unclaimed.remove(
            KeptPictures.fileName(of: image.name.string, FileName(bytes: file), number: number))
            != nil
        { number += 1 }
    }

    /// The files that are Darkroom's own.
    private func claimOwn() throws {
        unclaimed.subtract([
            FileName(RunFolder.spoolName), BatchFile.status, BatchProgress.fileName,
            BatchFile.sources,
        ])
        if frame.manifest.isFolder == true { unclaimed.remove(BatchFile.originals) }
        if AnswerPage.isThere(in: folder) { unclaimed.remove(BatchFile.page) }
        try claimFormer()
        guard let name = frame.manifest.file, let sha256 = frame.manifest.copySHA256 else { return }
        unclaimed.remove(FileName(name))
        let copy = ImageOutline.Output(file: name, bytes: frame.manifest.copyBytes, sha256: sha256)
        if let fault = outputCheck.fault(of: copy) { try add(fault.finding(of: nil, name)) }
    }

    /// The outputs that a run has left there for `--prune`, unless somebody has changed them.
    private func claimFormer() throws(RunError) {
        guard let root = try? Directory(FileName(RunFolder.spoolName), in: folder) else { return }
        let former = FormerOutputs()
        guard (try? former.read(in: root)) == true else { return }
        for file in former.byFile.keys {
            let isFormer = try runError(of: former.has(file.string, in: folder))
            if isFormer { claim(file.string) }
        }
    }

    private func next() throws -> [ImageOutline] {
        var images: [ImageOutline] = []
        do {
            while images.count < Self.chunk, let text = try stream.next() {
                guard let image = ImageOutline(text) else { throw StatusStreamError.foreign }
                images.append(image)
                if let status = ImageStatus(text: text) { sizes.add(status) }
            }
        } catch StatusStreamError.file(let error) {
            throw RunError(error)
        } catch StatusStreamError.changed {
            throw RunError.unfinished(folder.path)
        } catch {
            throw RunError(unreadableStatusIn: folder)
        }
        let piece = sizes.take()
        sizesDigest.update(piece)
        sizesBytes += piece.count
        return images
    }
}

extension OutputFault {
    fileprivate func finding(of image: String?, _ file: String) -> FolderFinding {
        FolderFinding(kind: kind, image: image, file: file, message: message)
    }

    private var kind: FolderFinding.Kind {
        switch self {
        case .missing: .missing
        case .unreadable: .unreadable
        case .notAFile, .length, .digest: .differs
        }
    }

    fileprivate var kindOfDelivery: FolderFinding.Kind {
        switch self {
        case .missing: .deliveredMissing
        case .unreadable: .deliveredUnreadable
        case .notAFile, .length, .digest: .deliveredDiffers
        }
    }
}
