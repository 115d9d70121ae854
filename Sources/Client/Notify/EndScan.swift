import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import Glibc
import SystemPackage

/// Finds the batches of an outbox that have ended.
///
/// It does not depend on clocks: it remembers the last end of each batch and compares. A look reads only answers that
/// were replaced since the last one. inotify tells when to look at new and unfinished batches. All answers are examined
/// at longer intervals, because a batch that has ended can be repeated, and because folders of other machines have no
/// events.
package final class EndScan {
    package enum News: Sendable, Equatable {
        /// The batch has ended. The same end may be told again.
        case ended(BatchEnd)
        case vanished(id: String, hadEnded: Bool)
        /// The answer cannot be read, for this reason. It is read again when it is replaced.
        case unreadable(id: String, String)
    }

    private struct Known {
        /// nil if the folder may not be entered.
        var stamp: AnswerStamp?
        var hasEnded = false
        var isUnreadable = false
    }

    /// The number of unfinished batches that are watched with inotify; the others are only looked at.
    private static let watches = 512
    /// Looking takes at most this part of the time, unless that would take too long.
    private static let share = 100.0
    /// The longest time between two looks at all answers, in seconds. The first look reads all of them and takes much
    /// longer than the others.
    private static let longestPause = 30.0
    private let spool: SpoolFolder
    private let outbox: Directory
    private var known: [ByteString: Known] = [:]
    private let files = FileEvents()
    /// Whether an event says that there is something to look at.
    private var isCalled = true
    private var notBefore = 0.0
    private var nextLook = 0.0
    private var nextFullLook = 0.0
    // During a look.
    private var isBehind = false
    private var freeWatches = 0

    package init(_ spool: SpoolFolder) throws(ClientError) {
        self.spool = spool
        outbox = try spool.outbox()
        files.follow(namesIn: outbox)
    }

    // MARK: When to look

    /// Has input when there is something to look at; negative without inotify.
    package var events: CInt { files.number }

    /// The seconds until the next look.
    package var pause: Double {
        if files.take() { isCalled = true }
        return max(0, (isCalled ? notBefore : min(nextLook, nextFullLook)) - Clock.uptime)
    }

    // MARK: A look

    package func lookIfDue() throws(ClientError) -> [News] { pause > 0 ? [] : try look() }

    /// What has changed since the last look. Ends come in the order of `BatchEnd.isBefore`.
    package func look() throws(ClientError) -> [News] {
        let begin = Clock.uptime
        // Before the look, so that no change is missed.
        _ = files.take()
        isCalled = false
        isBehind = false
        freeWatches = Self.watches - known.values.count { !$0.hasEnded }
        let isFull = begin >= nextFullLook
        var news: [News] = []
        let names = try asClientError(outbox.names()).filter {
            $0.bytes.first != UInt8(ascii: ".")
        }
        for name in names {
            let id = ByteString(decoding: name.bytes)
            let old = known[id]
            guard isFull || old?.hasEnded != true else { continue }
            if let item = try look(at: name, id, old) { news.append(item) }
        }
        news += forget(except: names)
        let now = Clock.uptime
        let took = now - begin
        notBefore = now + min(max(0.02, took * 20), 5)
        nextLook = isBehind ? notBefore : now + min(max(1, took * Self.share), 5)
        if isFull { nextFullLook = now + min(max(1, took * Self.share), Self.longestPause) }
        return Self.sorted(news)
    }

    private func look(
        at name: FileName, _ id: ByteString, _ old: Known?
    ) throws(ClientError) -> News? {
        do throws(FileError) {
            guard let stamp = try AnswerStamp(of: name, in: outbox),
                stamp != old?.stamp || stamp.isBehind
            else { return nil }
            var item = read(id, stamp, old)
            guard let read = known[id], !read.hasEnded, freeWatches > 0 else { return item }
            freeWatches -= 1
            files.follow(BatchFile.status, of: name, in: outbox)
            // It may have been replaced before it was followed.
            if let later = try AnswerStamp(of: name, in: outbox), later != stamp {
                item = self.read(id, later, read) ?? item
            }
            return item
        } catch  where error.errno == .permissionDenied {
            defer { known[id] = Known(isUnreadable: true) }
            return old?.isUnreadable == true
                ? nil : .unreadable(id: id.string, ClientError(error).message)
        } catch {
            throw ClientError(error)
        }
    }

    private func read(_ id: ByteString, _ stamp: AnswerStamp, _ old: Known?) -> News? {
        isBehind = isBehind || stamp.isBehind
        do throws(ClientError) {
            let progress = try spool.summary(of: id.string, patience: AnswerStamp.patience)
            guard let progress else { return nil }
            let end = BatchEnd(progress)
            known[id] = Known(stamp: stamp, hasEnded: end != nil)
            return end.map { .ended($0) }
        } catch {
            known[id] = Known(stamp: stamp, isUnreadable: true)
            return old?.isUnreadable == true ? nil : .unreadable(id: id.string, error.message)
        }
    }

    private func forget(except names: [FileName]) -> [News] {
        let present = Set(names.map { ByteString(decoding: $0.bytes) })
        guard known.contains(where: { !present.contains($0.key) }) else { return [] }
        let gone = known.filter { !present.contains($0.key) }.sorted { $0.key < $1.key }
        for (id, _) in gone { known[id] = nil }
        return gone.map { .vanished(id: $0.key.string, hadEnded: $0.value.hasEnded) }
    }

    private static func sorted(_ news: [News]) -> [News] {
        let ends = news.compactMap { item -> BatchEnd? in
            if case .ended(let end) = item { end } else { nil }
        }
        let others = news.filter { if case .ended = $0 { false } else { true } }
        return others + ends.sorted(by: BatchEnd.isBefore).map { .ended($0) }
    }

    // MARK: An end

    package enum Answer: ~Copyable {
        /// The open file. A later end does not change it.
        case status(Descriptor)
        /// The batch is being repeated, or it has ended again.
        case replaced
        case removed
    }

    package func answer(of end: BatchEnd) throws(ClientError) -> Answer {
        // The file may be replaced in between by one that says the same.
        for _ in 0..<8 {
            let file = try openStatus(of: end.id)
            guard let progress = try spool.summary(of: end.id) else { return .removed }
            guard BatchEnd(progress)?.key == end.key else { return .replaced }
            if let file, try isPresent(file, of: end.id) { return .status(file) }
        }
        return .replaced
    }

    private func openStatus(of id: String) throws(ClientError) -> Descriptor? {
        do throws(FileError) {
            return try Directory(FileName(id), in: outbox).open(BatchFile.status)
        } catch  where [.noSuchFileOrDirectory, .notDirectory].contains(error.errno) {
            return nil
        } catch {
            throw ClientError(error)
        }
    }

    private func isPresent(
        _ file: borrowing Descriptor, of id: String
    ) throws(ClientError) -> Bool {
        guard let information = stat(of: file.number) else { return false }
        let stamp = try asClientError(AnswerStamp(of: FileName(id), in: outbox))
        return stamp?.status == FileIdentity(information)
    }

    package func hasAnswer(_ id: String) throws(ClientError) -> Bool {
        do throws(FileError) {
            return try AnswerStamp(of: FileName(id), in: outbox) != nil
        } catch  where error.errno == .permissionDenied {
            return true
        } catch {
            throw ClientError(error)
        }
    }

    /// The folder of a batch, as programs outside of this one find it.
    package func path(of id: String) -> String { "\(outbox.path)/\(id)" }
}
