import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import Glibc
import SystemPackage

/// A command to a batch, from the check of its rights to its effect.
package final class ControlOrder {
    package let command: ControlCommand
    let spool: SpoolFolder
    /// nil if the command would have no effect, and is not given.
    private let staged: StagedFile?
    package let name: FileName
    private var target: Target
    /// The answer that is to be removed; nil for other commands. It stays open, so that no other folder gets its inode.
    let answer: Directory?
    /// When the control file was seen to be gone.
    private(set) var gone: Double?

    private enum Target {
        case batch(BatchView)
        /// A manifest that is still in the inbox.
        case manifest(FileName, identity: String, AnswerSearch)
    }

    package enum Outcome: Sendable, Equatable {
        case done(id: String)
        /// The batch was in this state before, as the end of a sentence about it.
        case already(id: String, String)
        case noEffect(id: String, String)
    }

    /// How long a command may take to appear in the status after its file is gone, in seconds.
    private static let patience = 10.0

    /// Checks whether the user may give the command, and gives it.
    ///
    /// - Parameter queue: the last report of the daemon.
    package init(
        _ command: ControlCommand, _ id: String, in spool: SpoolFolder, queue: QueueReport?
    ) throws(ClientError) {
        self.command = command
        self.spool = spool
        let (target, owner) = try Self.find(id, for: command, in: spool)
        self.target = target
        try Self.requirePermission(command, id, owner: owner, in: spool, queue: queue)
        let verb = FileName("\(id).\(command.rawValue)")
        if case .batch(let view) = target, command.form.effect == .removes {
            answer = try view.folder()
        } else {
            answer = nil
        }
        guard try Self.canTakeEffect(command, on: target) else {
            (staged, name) = (nil, verb)
            return
        }
        let staged = try StagedFile([], in: spool)
        self.staged = staged
        // The extension may be written in any case, and another user may have given the same command.
        for ending in [command.rawValue, command.rawValue.uppercased()] {
            let name = FileName("\(id).\(ending)")
            if try staged.drop(as: name) {
                self.name = name
                return
            }
        }
        throw ClientError(
            .tryAgain, code: "file-exists",
            "\(spool.path)/inbox/\(verb.text): this command waits already",
            remedy: spool.reasonForWaiting(of: verb))
    }

    // MARK: The target

    /// In the order of the daemon: an unfinished batch, a manifest in the inbox, a finished batch; for a command to
    /// finished batches, the manifest comes last.
    private static func find(
        _ id: String, for command: ControlCommand, in spool: SpoolFolder
    ) throws(ClientError) -> (Target, owner: UInt32?) {
        let view = BatchView(id, in: spool)
        let batch = try view.read()
        if let batch, !batch.state.isFinal || command.form.effect.isForFinished {
            return (.batch(view), batch.uid)
        }
        if let manifest = try manifest(id, command, in: spool) { return manifest }
        guard let batch else { throw spool.noSuchBatch(id) }
        return (.batch(view), batch.uid)
    }

    private static func manifest(
        _ id: String, _ command: ControlCommand, in spool: SpoolFolder
    ) throws(ClientError) -> (Target, owner: UInt32?)? {
        guard FileName.isValid(id),
            let file = ControlFile(FileName("\(id).\(command.rawValue)"))
        else { return nil }
        let inbox = try spool.inbox()
        let search = try AnswerSearch(stem: id, in: spool)
        do {
            for name in file.manifestNames {
                guard let information = try inbox.information(of: name),
                    let identity = try inbox.droppedIdentity(of: name)
                else { continue }
                return (.manifest(name, identity: identity, search), information.st_uid)
            }
            return nil
        } catch  where error.errno == .fileNameTooLong {
            return nil
        } catch {
            throw ClientError(error)
        }
    }

    /// Whether the command may have an effect. In the inbox, a hold could meet the next manifest with this name, and a
    /// removal the end of the batch.
    private static func canTakeEffect(
        _ command: ControlCommand, on target: Target
    ) throws(ClientError) -> Bool {
        switch (target, command.form.effect) {
        case (.batch(let view), .sets): try view.read()?.state.isFinal != true
        case (.batch(let view), .removes): try view.read()?.state.isFinal == true
        case (.manifest, .removes): false
        case (.manifest, .sets), (_, .reopens): true
        }
    }

    private static func requirePermission(
        _ command: ControlCommand, _ id: String, owner: UInt32?, in spool: SpoolFolder,
        queue: QueueReport?
    ) throws(ClientError) {
        let user = geteuid()
        let record = ControlRecord(command, uid: user)
        let spoolOwner = (try? spool.root.information())?.st_uid
        let isPrivileged = user == 0 || user == spoolOwner || user == queue?.daemon.uid
        guard !record.isPermitted(forBatchOf: owner, isPrivileged: isPrivileged) else { return }
        let name = HumanText.user(owner)
        let who =
            owner.map { "it belongs to \(name == "\($0)" ? "user \(name)" : name)" }
            ?? "its owner is not known"
        throw ClientError(
            .noPermission, code: "permission-denied",
            "\(FileName(id).text): you may not \(command.rawValue) it: \(who)",
            remedy: "Only its owner, the owner of the spool and root may.")
    }

    // MARK: The effect

    /// What became of the command; nil if this is not known yet.
    package func outcome() throws(ClientError) -> Outcome? {
        // The daemon removes the file after the command is stored, so the file comes first.
        if gone == nil, try staged?.isWaiting(as: name) != true { gone = Clock.uptime }
        switch target {
        case .batch(let view) where command.form.effect == .removes: return try removal(view)
        case .batch(let view): return try outcome(view)
        case .manifest(let manifest, _, _) where staged == nil:
            let words = "has not been taken yet, so there is nothing to remove"
            return .noEffect(id: manifest.text, words)
        case .manifest(let manifest, let identity, var search):
            if let id = try search.find(manifest, identity: identity) {
                let view = BatchView(id, in: spool)
                target = .batch(view)
                return try outcome(view)
            }
            target = .manifest(manifest, identity: identity, search)
            return isOverdue ? .noEffect(id: manifest.text, Self.silent) : nil
        }
    }

    private var isOverdue: Bool { gone.map { Clock.uptime - $0 > Self.patience } ?? false }

    private func outcome(_ view: BatchView) throws(ClientError) -> Outcome? {
        guard let batch = try view.read(fromStatus: gone != nil) else {
            return gone == nil ? nil : .noEffect(id: view.id, "was removed")
        }
        if let staged, batch.commands.contains(where: { $0.file == staged.controlIdentity }) {
            return .done(id: view.id)
        }
        guard gone != nil else { return nil }
        return reason(view.id, batch) ?? (isOverdue ? .noEffect(id: view.id, Self.silent) : nil)
    }

    /// Why a command had no effect; nil if it may not have appeared in the status yet.
    private func reason(_ id: String, _ batch: BatchView.Batch) -> Outcome? {
        switch command.form.effect {
        case .reopens:
            let isExactGone: Bool? =
                if let exact = batch.exactManifest {
                    ExactManifests.isGone(exact, of: spool.root)
                } else { false }
            return .noEffect(id: id, Self.reasonAgainstRetry(batch, isExactGone: isExactGone))
        // `removal` tells what becomes of it.
        case .removes: return nil
        case .sets(.cancelled):
            if batch.state == .cancelled { return .already(id: id, "is cancelled already") }
        case .sets(.held):
            if batch.state == .held { return .already(id: id, "is held already") }
        case .sets(.free):
            if !batch.state.isFinal, batch.state != .held { return .already(id: id, "is not held") }
        }
        guard batch.state.isFinal else { return nil }
        return .noEffect(id: id, "has ended before (\(batch.state.rawValue))")
    }
}
