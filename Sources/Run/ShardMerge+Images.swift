import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool

/// The images of all shards, side by side.
extension ShardMerge {
    /// What the whole status must have at a place.
    struct Expected: Sendable {
        let output: ExpectedOutput
        let isPublished: Bool
        let shard: Int32

        var name: ByteString { output.name }
    }

    /// The statuses that are read, and what has been found in them.
    struct Work {
        var streams: [StatusStream]
        let expected: [Expected]
        /// The further shards that have an image, by its place.
        let copies: [Int: [Int]]
        /// The status that is to be replaced. Mostly its images have the same order.
        var former: StatusStream?
        /// The hashes of the paths of all outputs.
        var files: Set<Int> = []
        /// The outputs of images of the former status that are not the same in this one.
        var formerOutputs: [FormerOutputs.Entry] = []
        /// How many pages the sources have; nil if none were counted.
        var record: SourceRecord?
        /// Shards whose images are not those of the manifest.
        var foreign: Set<Int> = []
        var goneOutputs: [Int: Int] = [:]
        /// `sizes.json`; nil if no image of the manifest is a reason for it.
        var sizes: ResultSizes?
        var counts = Status.Counts()
        var outputBytes = 0

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
        /// The image of the former status at this place; nil if there is none, and for a copy.
        let former: ArraySlice<UInt8>?

        /// The image of the former status, if it has another text than the shard's.
        var changedFormer: ImageOutline? { former.flatMap { $0 == text ? nil : ImageOutline($0) } }

        /// Whether another shard's answer is taken.
        var isCopy: Bool { shard != Int(expected.shard) }
    }

    private enum Finding: Sendable {
        case good(
            ImageState, bytes: Int, isBlocked: Bool = false, isWarned: Bool = false,
            file: ByteString? = nil)
        /// The shard's images are others.
        case foreign(String)
        /// The text of the image is not what Darkroom writes.
        case unreadable
        case gone
        case fault(String)
    }

    /// Writes the status under a temporary name.
    ///
    /// - Returns: the sum of the sizes of the outputs.
    func write(
        _ status: inout Status, _ work: inout Work, _ report: inout MergeReport,
        _ progress: (Int) -> Void
    ) throws(RunError) -> Int {
        let path = root.path(of: Self.newStatus)
        let file = try runError(of: root.create(Self.newStatus, replacing: true))
        try removeNewSizes()
        let (head, tail) = status.writtenNow.encodedFrame()
        var bytes = head
        for start in stride(from: 0, to: work.expected.count, by: Self.chunk) {
            let items = try take(start, &work, &report)
            let findings = concurrentMap(items) { [check] in
                (Self.finding(of: $0, check), $0.changedFormer)
            }
            var answer: ImageOutline?
            for (item, (finding, former)) in zip(items, findings) {
                note(finding, item, &work, &report)
                if work.copies[item.place] != nil {
                    let own = ImageOutline(item.text)
                    if item.isCopy {
                        compare(item, own, with: answer, &report)
                        continue
                    }
                    answer = own
                }
                if case .good(let state, _, _, _, let file) = finding {
                    if let file { work.files.insert(file.hashValue) }
                    if let former {
                        if let entry = former.entry { work.formerOutputs.append(entry) }
                        if state != .filtered { compare(item, former, &report) }
                    }
                }
                bytes += item.text
                bytes += Array(",\n".utf8)
                if work.sizes != nil, let image = ImageStatus(text: item.text) {
                    work.sizes?.add(image)
                }
            }
            // The last image has no comma.
            if start + Self.chunk >= work.expected.count, !items.isEmpty { bytes.removeLast(2) }
            try runError(of: file.write(bytes, path: path))
            bytes.removeAll(keepingCapacity: true)
            if let piece = work.sizes?.take() { try appendSizes(piece) }
            progress(min(work.expected.count, start + Self.chunk))
        }
        try requireEnd(&work, &report)
        for (shard, count) in work.goneOutputs.sorted(by: { $0.key < $1.key }) {
            report.missing.append(.init(shard: shard, reason: .outputsGone(count)))
        }
        if report.isWhole, !status.counts.agree(with: work.counts) {
            report.add("the sums of the shards' statuses are not those of their images", in: 0)
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
        if let sizes = work.sizes.take() {
            if sizes.areUseful {
                try appendSizes(sizes.end(), isLast: true)
            } else {
                try removeNewSizes()
            }
        }
        FaultPoint.mergeWritten.pass()
        return work.outputBytes
    }

    func removeNewSizes() throws(RunError) {
        try runError(of: ignoringMissing(root.remove(Self.newSizes)))
    }

    /// Writes a piece of `sizes.json` under a temporary name.
    private func appendSizes(_ bytes: [UInt8], isLast: Bool = false) throws(RunError) {
        try runError { () throws(FileError) in
            let path = root.path(of: Self.newSizes)
            let file = try root.append(to: Self.newSizes)
            try file.write(bytes, path: path)
            if isLast { try file.sync(path: path) }
            try file.close(path: path)
        }
    }

    /// The next images of the manifest, from the statuses of their shards.
    private func take(
        _ start: Int, _ work: inout Work, _ report: inout MergeReport
    ) throws(RunError) -> [Item] {
        var items: [Item] = []
        items.reserveCapacity(Self.chunk)
        for place in start..<min(start + Self.chunk, work.expected.count) {
            let expected = work.expected[place]
            let former = work.nextFormer()
            for shard in [Int(expected.shard)] + (work.copies[place] ?? []) {
                guard !work.foreign.contains(shard) else { continue }
                if let text = try next(of: shard, &work, &report) {
                    items.append(
                        Item(
                            place: place, expected: expected, shard: shard, text: text,
                            former: shard == Int(expected.shard) ? former : nil))
                } else if work.foreign.insert(shard).inserted {
                    report.add("its status lacks the image", of: expected.name.string, in: shard)
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
                report.add(unreadableStatus(of: shard), in: shard)
                return nil
            }
        }
    }

    private static func finding(of item: Item, _ check: OutputCheck) -> Finding {
        guard let image = ImageOutline(item.text) else { return .unreadable }
        guard image.name == item.expected.name else {
            return .foreign("its status has the image \(image.name.string) in this place")
        }
        guard image.state.isFinal else { return .fault("the image has not ended") }
        guard image.state == .filtered else {
            return .good(image.state, bytes: 0, isBlocked: image.isBlocked)
        }
        guard item.expected.isPublished else {
            return image.output == nil
                ? .good(.filtered, bytes: 0, isWarned: image.isWarned)
                : .fault("its status has an output, and the image is not published")
        }
        guard let output = image.output,
            ByteString(output.file) == ByteString(item.expected.output.path(of: output))
        else { return .fault("its status has another output") }
        switch check.fault(of: output) {
        case nil:
            return .good(
                .filtered, bytes: output.bytes, isWarned: image.isWarned,
                file: ByteString(output.file))
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
        case .good(let state, let bytes, let isBlocked, let isWarned, _):
            if isBlocked { report.addBlocked(by: item.expected.output.shown) }
            work.counts.total += 1
            work.counts.count(state, isWarned: isWarned)
            work.outputBytes = work.outputBytes.saturatingAdd(bytes)
        case .gone: work.goneOutputs[shard, default: 0] += 1
        case .foreign(let message):
            guard work.foreign.insert(shard).inserted else { return }
            report.add(message, of: item.expected.name.string, in: shard)
        case .unreadable:
            guard work.foreign.insert(shard).inserted else { return }
            report.add(unreadableStatus(of: shard), of: item.expected.name.string, in: shard)
        case .fault(let message):
            report.add(message, of: item.expected.name.string, in: shard)
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
        report.add(message, of: item.expected.name.string, in: item.shard)
    }

    /// Compares an image that has failed with what the former status has about it.
    private func compare(_ item: Item, _ former: ImageOutline, _ report: inout MergeReport) {
        guard former.name == item.expected.name, former.state == .filtered else { return }
        guard let output = former.output, check.fault(of: output) == nil else {
            return report.addLost(item.expected.name.string)
        }
    }

    /// Each shard must have no more images than the manifest has for it.
    private func requireEnd(_ work: inout Work, _ report: inout MergeReport) throws(RunError) {
        for shard in 1...shards.count where !work.foreign.contains(shard) {
            guard let text = try next(of: shard, &work, &report) else { continue }
            report.add(
                "its status has the image once too often", of: ImageOutline(text)?.name.string,
                in: shard)
        }
    }
}
