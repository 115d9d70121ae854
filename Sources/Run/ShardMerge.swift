import DarkroomCore
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool
import Glibc
import SystemPackage

/// `darkroom merge`: proves that each image of the manifest has one answer and each output its digest, and writes the
/// whole status, as one run would have written it.
///
/// The images of each shard's status are in the manifest's order, and the assignment tells which shard has the next image.
/// So all statuses are read once, side by side, and the text of each image is copied to the whole status. Of the images,
/// only the names and formats of the manifest are in memory.
///
/// | step                                    | after a crash                                               |
/// |-----------------------------------------|-------------------------------------------------------------|
/// | `.darkroom` locked                      | the kernel releases the lock                                |
/// | statuses read, outputs read             | nothing to do                                               |
/// | `.darkroom/status.new` written, synced  | the next merge writes over it                               |
/// | copy of the manifest, `progress.json`   | the same                                                    |
/// | renamed to `status.json`                | nothing to do                                               |
///
/// Several shards may have a copy of the same image (`ShardAssignment`). Their answers must agree. The whole status has that
/// of the first of them, and counts it once.
///
/// A merge beside running shards is safe: it takes final statuses only, and a status that is replaced meanwhile ends it.
///
/// A whole status that is there already is replaced. If an image was filtered according to it, and has failed since then:
///
/// | its output according to the former status | what the merge does                                             |
/// |-------------------------------------------|-----------------------------------------------------------------|
/// | is there, with its digest                 | nothing is replaced: the former status is right about the image |
/// | is gone, changed, or never was published  | the status is replaced, and the report lists the image          |
package struct ShardMerge {
    private let outputs: Directory
    private let root: Directory
    private let plan: RunPlan
    private let shards: RunPlan.Shards
    private let check: OutputCheck
    /// Held as long as this exists.
    private let lock: LockedFolder

    /// How often an image counts as progress.
    private static let chunk = 1024
    private static let newStatus: FileName = "status.new"

    /// - Parameter readsOutputs: whether the outputs' digests are computed; otherwise their lengths are compared.
    package init(_ path: String, readsOutputs: Bool) throws(RunError) {
        outputs = try runError { () throws(FileError) in try Directory(path: path) }
        do {
            root = try Directory(FileName(RunFolder.spoolName), in: outputs)
        } catch  where error.errno == .noSuchFileOrDirectory {
            throw .noRun(path)
        } catch {
            throw RunError(error)
        }
        guard let plan = try RunPlan.read(in: root) else { throw .noRun(path) }
        guard let shards = plan.shards else { throw .notDivided(path) }
        self.plan = plan
        self.shards = shards
        check = OutputCheck(outputs: outputs, readsContent: readsOutputs)
        lock = try LockedFolder(root, of: path)
    }

    /// - Parameter progress: receives the number of images that have been looked at, and of all.
    package func run(
        progress: (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) throws(RunError) -> MergeReport {
        var report = MergeReport(plan, shards, folder: outputs.path)
        let streams = try streams(&report)
        guard report.isWhole else { return report }
        var status = try whole(of: streams.map(\.frame))
        let bytes = try readManifest()
        var work = try work(streams, bytes, status)
        status.counts.subtract(Self.counts(ofCopiesIn: work))
        let total = status.counts.total
        guard total == work.expected.count else {
            report.add(
                MergeReport.Fault(
                    shard: 0, image: nil,
                    message:
                        "the shards have \(total) images, and the manifest has \(work.expected.count)"
                ))
            return report
        }
        let outputBytes = try write(&status, &work, &report) { progress($0, total) }
        guard report.isWhole else {
            try runError { () throws(FileError) in try root.remove(Self.newStatus) }
            return report
        }
        try publish(status, manifest: bytes, outputBytes: outputBytes)
        report.status = status
        return report
    }

    // MARK: The statuses

    /// Opens the status of each shard, and notes those that are not final or not of this run.
    private func streams(_ report: inout MergeReport) throws(RunError) -> [StatusStream] {
        var streams: [StatusStream] = []
        let piece = min(256 << 10, max(16 << 10, (32 << 20) / shards.count))
        for number in 1...shards.count {
            guard let shard = Shard(number, of: shards.count) else { break }
            let folder = RunParts.name(of: shard).text
            do {
                let name = FileName("\(folder)/\(BatchFile.status.text)")
                guard let stream = try StatusStream(name, in: root, piece: piece) else {
                    report.missing.append(.init(shard: number, reason: .notBegun))
                    continue
                }
                let frame = stream.frame
                if let message = foreign(frame, number) {
                    report.add(.init(shard: number, image: nil, message: message))
                } else if !frame.state.isFinal {
                    report.missing.append(
                        .init(shard: number, reason: .unfinished(frame.counts)))
                } else {
                    if frame.counts.failed > 0 { report.failed.append(number) }
                    streams.append(stream)
                }
            } catch .file(let error) {
                guard error.errno == .tooManySymbolicLinkLevels else { throw RunError(error) }
                report.add(
                    .init(
                        shard: number, image: nil,
                        message: "a symbolic link is in the place of its status"))
            } catch {
                report.add(
                    .init(
                        shard: number, image: nil,
                        message: "its status is not what this version of darkroom can read"))
            }
        }
        return streams
    }

    /// Why a status is not that of this shard; nil if it is.
    private func foreign(_ frame: Status, _ number: Int) -> String? {
        guard FileName(frame.id) == FileName(plan.id) else {
            return "its status is that of another run, \(frame.id)"
        }
        guard frame.manifest.sha256 == plan.sha256 else {
            return "its status is that of another manifest"
        }
        guard frame.shards == Status.Shards(count: shards.count, number: number) else {
            return "its status is that of another shard"
        }
        return nil
    }

    /// The whole status of an earlier merge of this run; nil if there is none.
    private func former() -> StatusStream? {
        guard let stream = try? StatusStream(in: outputs),
            FileName(stream.frame.id) == FileName(plan.id),
            stream.frame.manifest.sha256 == plan.sha256,
            stream.frame.shards == Status.Shards(count: shards.count)
        else { return nil }
        return stream
    }

    /// The whole status without its images.
    private func whole(of frames: [Status]) throws(RunError) -> Status {
        guard var status = frames.first else { throw .noRun(outputs.path) }
        status.shards = Status.Shards(count: shards.count)
        status.counts = Status.Counts()
        for frame in frames {
            status.counts.total = status.counts.total.saturatingAdd(frame.counts.total)
            for state in ImageState.allCases {
                status.counts[state] = status.counts[state].saturatingAdd(frame.counts[state])
            }
        }
        // They are in UTC and have one length, so that their order is that of the texts.
        func time(
            _ key: (Status.Times) -> String?, _ best: ([ByteString]) -> ByteString?
        ) -> String? {
            best(frames.compactMap { key($0.times) }.map { ByteString($0) })?.string
        }
        status.times.received = time(\.received) { $0.min() } ?? status.times.received
        status.times.started = time(\.started) { $0.min() }
        status.times.finished = time(\.finished) { $0.max() }
        status.versions = frames.reduce(into: [PictureVersions]()) {
            $0 = $0.joined(by: $1.versions ?? [])
        }
        if status.versions == [] { status.versions = nil }
        let commands = frames.flatMap { $0.commands ?? [] }
            .sorted { ByteString($0.time) < ByteString($1.time) }
        status.commands = nil
        for command in commands { status.note(command) }
        status.retries = frames.compactMap(\.retries).max()
        status.waiting = nil
        status.state =
            status.counts.cancelled > 0
            ? .cancelled : status.counts.failed > 0 ? .completedWithErrors : .completed
        return status
    }

    // MARK: The manifest

    /// What the whole status must have at a place.
    private struct Expected: Sendable {
        let name: ByteString
        let format: OutputFormat
        let isPublished: Bool
        let shard: Int32
    }

    /// The copy that the shards share.
    private func readManifest() throws(RunError) -> [UInt8] {
        let name = BatchFile.manifest(try format())
        let bytes: [UInt8]
        do {
            bytes = try root.read(name)
        } catch  where error.errno == .noSuchFileOrDirectory {
            throw .unusable(
                folder: outputs.path,
                reason: "\(root.path(of: name)) is gone; run any shard again, which writes it")
        } catch {
            throw RunError(error)
        }
        guard SHA256Digest.hex(of: bytes) == plan.sha256 else {
            throw .copyChanged(root.path(of: name))
        }
        return bytes
    }

    private func format() throws(RunError) -> ManifestFormat {
        guard let format = plan.format.flatMap({ ManifestFormat(rawValue: $0) }) else {
            throw .unreadable(root.path(of: RunPlan.fileName))
        }
        return format
    }

    private func work(
        _ streams: [StatusStream], _ bytes: [UInt8], _ status: Status
    ) throws(RunError) -> Work {
        // It was accepted once, whatever the limits were.
        let limits = ManifestLimits(bytes: .max, images: .max, filters: .max)
        let manifest: Manifest
        do {
            manifest = try ManifestReader.read(
                bytes, format: try format(), limits: limits, defaultFilters: [],
                recipes: RecipeBook(of: status, limit: limits.filters))
        } catch let error as RunError {
            throw error
        } catch {
            throw .unusable(
                folder: outputs.path, reason: "its manifest would not be accepted any more")
        }
        let assignment = ShardAssignment(of: manifest, count: shards.count)
        let expected = manifest.images.enumerated().map { index, image in
            Expected(
                name: image.name, format: image.output.format, isPublished: image.isPublished,
                shard: Int32(assignment[index]))
        }
        let copies = assignment.copied.map { ($0, assignment.copies(of: $0)) }
        return Work(
            streams, expected, copies: Dictionary(uniqueKeysWithValues: copies), former: former())
    }

    /// How the copies of images have ended, which the sums of the shards' statuses count too. It reads the statuses up to
    /// the last copy, which is usually near the beginning.
    private static func counts(ofCopiesIn work: Work) -> Status.Counts {
        var counts = Status.Counts()
        guard let last = work.copies.keys.max() else { return counts }
        var streams = work.streams
        for place in 0...last {
            // What is wrong is found when the images are compared.
            _ = try? streams[Int(work.expected[place].shard) - 1].next()
            for shard in work.copies[place] ?? [] {
                guard let text = try? streams[shard - 1].next(),
                    let copy = ImageOutline(text)
                else { continue }
                counts.total += 1
                counts[copy.state] += 1
            }
        }
        return counts
    }

    // MARK: The images

    /// The statuses that are read, and what has been found in them.
    private struct Work {
        var streams: [StatusStream]
        let expected: [Expected]
        /// The further shards that have an image, by its place.
        let copies: [Int: [Int]]
        /// The status that is to be replaced, with its images in the same order.
        var former: StatusStream?
        /// Shards whose images are not those of the manifest.
        var foreign: Set<Int> = []
        var goneOutputs: [Int: Int] = [:]
        var counts = Status.Counts()
        var outputBytes = 0

        init(
            _ streams: [StatusStream], _ expected: [Expected], copies: [Int: [Int]],
            former: StatusStream?
        ) {
            self.streams = streams
            self.expected = expected
            self.copies = copies
            self.former = former?.frame.counts.total == expected.count ? former : nil
        }

        /// The next image of the former status.
        mutating func nextFormer() -> ArraySlice<UInt8>? {
            guard former != nil else { return nil }
            do {
                if let text = try former?.next() { return text }
            } catch {
                // Somebody has changed it. What it said cannot be compared any more.
            }
            former = nil
            return nil
        }
    }

    private struct Item: Sendable {
        let place: Int
        let expected: Expected
        let shard: Int
        let text: ArraySlice<UInt8>

        /// Whether another shard's answer is taken.
        var isCopy: Bool { shard != Int(expected.shard) }
    }

    private enum Finding: Sendable {
        case good(ImageState, bytes: Int, isBlocked: Bool = false)
        /// The shard's images are others.
        case foreign(String)
        case gone
        case fault(String)
    }

    /// Writes the status under a temporary name.
    ///
    /// - Returns: the sum of the sizes of the outputs.
    private func write(
        _ status: inout Status, _ work: inout Work, _ report: inout MergeReport,
        _ progress: (Int) -> Void
    ) throws(RunError) -> Int {
        let path = root.path(of: Self.newStatus)
        let file = try runError { () throws(FileError) in
            try root.create(Self.newStatus, replacing: true)
        }
        let (head, tail) = status.writtenNow.encodedFrame()
        var bytes = head
        for start in stride(from: 0, to: work.expected.count, by: Self.chunk) {
            let formers = (start..<min(start + Self.chunk, work.expected.count)).map { _ in
                work.nextFormer()
            }
            let items = try take(start, &work, &report)
            let findings = concurrentMap(items) { [check] in Self.finding(of: $0, check) }
            var answer: ImageOutline?
            for (item, finding) in zip(items, findings) {
                note(finding, item, &work, &report)
                if work.copies[item.place] != nil {
                    let own = ImageOutline(item.text)
                    if item.isCopy {
                        compare(item, own, with: answer, &report)
                        continue
                    }
                    answer = own
                }
                if case .good(let state, _, _) = finding, state != .filtered,
                    let former = formers[item.place - start].flatMap({ ImageOutline($0) })
                {
                    compare(item, former, &report)
                }
                bytes += item.text
                bytes += Array(",\n".utf8)
            }
            // The last image has no comma.
            if start + Self.chunk >= work.expected.count, !items.isEmpty { bytes.removeLast(2) }
            try runError { () throws(FileError) in try file.write(bytes, path: path) }
            bytes.removeAll(keepingCapacity: true)
            progress(min(work.expected.count, start + Self.chunk))
        }
        try requireEnd(&work, &report)
        for (shard, count) in work.goneOutputs.sorted(by: { $0.key < $1.key }) {
            report.missing.append(.init(shard: shard, reason: .outputsGone(count)))
        }
        if report.isWhole, work.counts != status.counts {
            report.add(
                .init(
                    shard: 0, image: nil,
                    message: "the sums of the shards' statuses are not those of their images"))
        }
        let last = bytes + [UInt8(ascii: "\n")] + tail
        try runError { () throws(FileError) in
            try file.write(last, path: path)
            try file.sync(path: path)
        }
        do {
            try file.close(path: path)
        } catch {
            throw RunError(error)
        }
        FaultPoint.mergeWritten.pass()
        return work.outputBytes
    }

    /// The next images of the manifest, from the statuses of their shards.
    private func take(
        _ start: Int, _ work: inout Work, _ report: inout MergeReport
    ) throws(RunError) -> [Item] {
        var items: [Item] = []
        items.reserveCapacity(Self.chunk)
        for place in start..<min(start + Self.chunk, work.expected.count) {
            let expected = work.expected[place]
            for shard in [Int(expected.shard)] + (work.copies[place] ?? []) {
                guard !work.foreign.contains(shard) else { continue }
                if let text = try next(of: shard, &work, &report) {
                    items.append(Item(place: place, expected: expected, shard: shard, text: text))
                } else if work.foreign.insert(shard).inserted {
                    report.add(
                        .init(
                            shard: shard, image: expected.name.string,
                            message: "its status lacks the image"))
                }
            }
        }
        return items
    }

    private func next(
        of shard: Int, _ work: inout Work, _ report: inout MergeReport
    ) throws(RunError) -> ArraySlice<UInt8>? {
        do {
            return try work.streams[shard - 1].next()
        } catch {
            switch error {
            case .file(let error): throw RunError(error)
            case .changed: throw .changing(folder: outputs.path, shard: shard)
            case .foreign:
                work.foreign.insert(shard)
                report.add(
                    .init(
                        shard: shard, image: nil,
                        message: "its status is not what this version of darkroom can read"))
                return nil
            }
        }
    }

    private static func finding(of item: Item, _ check: OutputCheck) -> Finding {
        guard let image = ImageOutline(item.text) else {
            return .foreign("its status is not what this version of darkroom can read")
        }
        guard image.name == item.expected.name else {
            return .foreign("its status has the image \(image.name.string) in this place")
        }
        guard image.state.isFinal else { return .fault("the image has not ended") }
        guard image.state == .filtered else {
            return .good(image.state, bytes: 0, isBlocked: image.isBlocked)
        }
        guard item.expected.isPublished else {
            return image.output == nil
                ? .good(.filtered, bytes: 0)
                : .fault("its status has an output, and the image is not published")
        }
        guard let output = image.output,
            ByteString(output.file)
                == Manifest.Image.outputFile(named: item.expected.name, item.expected.format)
        else { return .fault("its status has another output") }
        switch check.fault(of: output) {
        case nil: return .good(.filtered, bytes: output.bytes)
        case .missing: return .gone
        case .length(0, _):
            // A crash of the machine leaves it. The run makes it again.
            return .gone
        case .some(let fault): return .fault("\(output.file): \(fault.message)")
        }
    }

    private func note(
        _ finding: Finding, _ item: Item, _ work: inout Work, _ report: inout MergeReport
    ) {
        let shard = item.shard
        switch finding {
        case .good where item.isCopy: return
        case .good(let state, let bytes, let isBlocked):
            if isBlocked { report.blockedCount += 1 }
            work.counts.total += 1
            work.counts[state] += 1
            work.outputBytes = work.outputBytes.saturatingAdd(bytes)
        case .gone: work.goneOutputs[shard, default: 0] += 1
        case .foreign(let message):
            guard work.foreign.insert(shard).inserted else { return }
            report.add(.init(shard: shard, image: item.expected.name.string, message: message))
        case .fault(let message):
            report.add(.init(shard: shard, image: item.expected.name.string, message: message))
        }
    }

    /// Compares two shards' answers for the same image. Images of both shards were made with it.
    private func compare(
        _ item: Item, _ copy: ImageOutline?, with answer: ImageOutline?,
        _ report: inout MergeReport
    ) {
        guard let copy, let answer else { return }
        let message: String
        if copy.state != answer.state {
            message =
                "it is \(copy.state.rawValue) here, and \(answer.state.rawValue) in shard \(item.expected.shard); run the one in which it has failed with --retry"
        } else if copy.sourceSHA256 != answer.sourceSHA256 {
            message = "its source was another one in shard \(item.expected.shard)"
        } else {
            return
        }
        report.add(
            .init(shard: item.shard, image: item.expected.name.string, message: message))
    }

    /// Compares an image that has failed with what the former status has about it.
    private func compare(_ item: Item, _ former: ImageOutline, _ report: inout MergeReport) {
        guard former.name == item.expected.name, former.state == .filtered else { return }
        let name = item.expected.name.string
        guard let output = former.output, check.fault(of: output) == nil else {
            return report.addLost(name)
        }
        report.add(
            .init(
                shard: item.shard, image: name,
                message:
                    "it has failed since the last merge, but its output of that time is unchanged; run the shard with --retry"
            ))
    }

    /// Each shard must have no more images than the manifest has for it.
    private func requireEnd(_ work: inout Work, _ report: inout MergeReport) throws(RunError) {
        for shard in 1...shards.count where !work.foreign.contains(shard) {
            guard let text = try next(of: shard, &work, &report) else { continue }
            report.add(
                .init(
                    shard: shard, image: ImageOutline(text)?.name.string,
                    message: "its status has the image once too often"))
        }
    }

    // MARK: The answer

    /// Puts the copy of the manifest into the folder. The file of somebody else stays, and ends the merge.
    private func putManifest(_ bytes: [UInt8], as name: FileName) throws(RunError) {
        if try outputs.requireCopy(of: bytes, as: name, isBegun: former() != nil) { return }
        try runError { () throws(FileError) in
            do {
                try root.link(name, to: outputs, as: name)
            } catch {
                try outputs.write(sparsely: bytes, to: name, durably: false)
            }
        }
    }

    private func publish(
        _ status: Status, manifest bytes: [UInt8], outputBytes: Int
    ) throws(RunError) {
        let name = BatchFile.manifest(try format())
        let progress = BatchProgress(of: status, outputBytes: outputBytes)
        try putManifest(bytes, as: name)
        try runError { () throws(FileError) in
            let new: FileName = "progress.new"
            try root.write(progress.encoded(), to: new, replacing: true, durably: false)
            try root.rename(new, to: outputs, as: BatchFile.progress, replacing: true)
            try root.rename(
                Self.newStatus, to: outputs, as: BatchFile.status, replacing: true)
            FaultPoint.mergeMoved.pass()
            try outputs.sync()
        }
    }
}

extension Status.Counts {
    /// The numbers of a file may have any values.
    fileprivate mutating func subtract(_ other: Status.Counts) {
        total = total.saturatingSubtract(other.total)
        for state in ImageState.allCases {
            self[state] = self[state].saturatingSubtract(other[state])
        }
    }
}

/// The lock of `.darkroom` during a merge, so that there is one at a time.
private final class LockedFolder: Sendable {
    private let descriptor: Descriptor

    init(_ root: Directory, of folder: String) throws(RunError) {
        do {
            descriptor = try SpoolLock.take(root, for: "darkroom merge on \(Machine.name)")
        } catch {
            switch error {
            case .locked(_, let holder): throw .inUse(folder: folder, holder: holder)
            case .file(let error), .barred(let error, _): throw RunError(error)
            }
        }
    }
}
