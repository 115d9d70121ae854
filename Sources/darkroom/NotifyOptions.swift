import ArgumentParser
import DarkroomClient
import DarkroomCore
import DarkroomFetch
import Foundation
import Glibc

/// The options of `watch --finished`, which tells a program or a web server of each batch that has ended.
struct NotifyOptions: ParsableArguments {
    @Flag(
        help:
            "Do not show progress. Call a program or a web server for each batch that ends, until a signal arrives."
    )
    var finished = false

    @Option(
        help: ArgumentHelp("With --finished: send a POST request to this URL.", valueName: "url"))
    var post: String?

    @Option(
        help: ArgumentHelp(
            "With --finished: remember in this file what was called. If not given: finished.cursor in $STATE_DIRECTORY or in ~/.local/state/darkroom.",
            valueName: "file"), completion: .file())
    var cursor: String?

    @Flag(
        help:
            "With --finished: if there is no cursor yet, also call for batches that have ended before."
    )
    var fromStart = false

    @Option(
        help: ArgumentHelp(
            "With --finished: let this many calls for one end fail; 0 for no limit. If not given: 10.",
            valueName: "number"))
    var tries: Int?

    @Option(
        help: ArgumentHelp(
            "With --finished: pause this long after a failed call; each further pause is twice as long, up to 5min. If not given: 1s.",
            valueName: "time"))
    var retryDelay: String?

    @Option(
        help: ArgumentHelp(
            "With --finished: let one call take at most this long. If not given: 1min.",
            valueName: "time"))
    var timeout: String?

    @Option(
        help: ArgumentHelp(
            "With --post: sign requests with the key in this file. If not given: the service's credential webhook-key, if it exists.",
            valueName: "file"), completion: .file())
    var keyFile: String?

    @Option(
        help: ArgumentHelp(
            "With --post: allow addresses that are not public, such as 10.0.0.0/8. May be repeated.",
            valueName: "network"))
    var allowNetwork: [String] = []

    @Option(
        help: ArgumentHelp(
            "With --post: trust the certificates of this file instead of those of the system.",
            valueName: "file"), completion: .file())
    var caFile: String?

    @Option(
        parsing: .remaining,
        help: ArgumentHelp(
            "With --finished: run this program. All further words are its arguments, so it must be the last option.",
            valueName: "program"), completion: .file())
    var exec: [String] = []

    /// - Parameters:
    ///   - ids: the batches that are named.
    ///   - json: whether events are wanted as JSON.
    func check(ids: [String], json: Bool) throws {
        let further: [(String, Bool)] = [
            ("--exec", !exec.isEmpty), ("--post", post != nil), ("--cursor", cursor != nil),
            ("--from-start", fromStart), ("--tries", tries != nil), ("--timeout", timeout != nil),
            ("--retry-delay", retryDelay != nil),
        ]
        let ofPost: [(String, Bool)] = [
            ("--key-file", keyFile != nil), ("--allow-network", !allowNetwork.isEmpty),
            ("--ca-file", caFile != nil),
        ]
        guard finished else {
            if let given = (further + ofPost).first(where: \.1) {
                throw ValidationError("\(given.0) is for --finished: darkroom watch --finished …")
            }
            return
        }
        guard ids.isEmpty else {
            throw ValidationError("--finished is for all batches; write no ID")
        }
        guard !json else { throw ValidationError("--finished has no --json") }
        guard exec.isEmpty != (post == nil) else {
            throw ValidationError(
                exec.isEmpty
                    ? "--finished needs --exec PROGRAM or --post URL"
                    : "write either --exec or --post")
        }
        if post == nil, let option = ofPost.first(where: \.1) {
            throw ValidationError("\(option.0) is for --post")
        }
        _ = try policy()
        _ = try networks()
    }

    private func policy() throws -> NotificationPolicy {
        var policy = NotificationPolicy()
        if let tries {
            guard (0...1000).contains(tries) else {
                throw ValidationError("--tries \(tries): write a number from 0 to 1000")
            }
            policy.tries = tries
        }
        if let timeout { policy.timeout = try Self.seconds("--timeout", timeout) }
        if let retryDelay { policy.retryDelay = try Self.seconds("--retry-delay", retryDelay) }
        return policy
    }

    private static func seconds(_ option: String, _ text: String) throws -> Double {
        guard let seconds = Quantity.seconds(text), (0.01...86400).contains(seconds) else {
            throw ValidationError(
                "\(option) \(FileName(text).text): write a time such as 30s or 5min, from 10ms to 1d"
            )
        }
        return seconds
    }

    private func networks() throws -> [IPNetwork] {
        try allowNetwork.map { text in
            do throws(TextProblem) {
                return try IPNetwork(text)
            } catch {
                throw ValidationError("--allow-network \(error.message)")
            }
        }
    }

    private func receiver() throws -> NotificationReceiver {
        guard let post else { return .program(try ProgramReceiver(exec)) }
        let key = try keyFile.map { path throws(ClientError) in try WebhookKey(path: path) }
        return .webhook(
            try WebhookReceiver(
                post, key: try key ?? WebhookKey.ofService(), networks: try networks(),
                caFile: caFile))
    }

    func run(_ spool: SpoolOptions) throws {
        let policy = try policy()
        let receiver = try receiver()
        let folder = try spool.openAbsolute()
        let cursor = try NotificationCursor(
            path: try CursorLocation.path(option: cursor), spool: folder.path)
        // Standard error may be the journal, where a number before a line is its priority.
        let isJournal = JournalStream.isStandardError
        // From now on a signal sets a flag, which the sender sees.
        StopSignals.begin()
        let sender = try NotificationSender(folder, cursor, receiver, policy) {
            event throws(ClientError) in
            if case .called(let end) = event { return try Console.line(end.progress.result) }
            guard let sentence = event.sentence(limit: policy.tries) else { return }
            guard isJournal else { return Console.complain(sentence) }
            let line = "<\(event.isWarning ? 4 : 6)>\(sentence.visible)\n"
            try? Console.write(line, to: STDERR_FILENO)
        }
        try sender.begin(fromStart: fromStart)
        // A service is stopped by SIGTERM, a command on a terminal is interrupted.
        if try sender.run() != SIGTERM { throw ClientExit.interrupted }
    }
}
