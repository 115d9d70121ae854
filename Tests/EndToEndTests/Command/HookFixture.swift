import Foundation
import TestSupport

/// A spool with a daemon's origin, programs that are called, and the command that calls them.
final class HookFixture: Sendable {
    let daemons: DaemonFixture
    /// The programs, what they write, and the cursor.
    let scratch: ScratchDirectory
    var spool: SpoolFixture { daemons.spool }
    var cursor: String { path("cursor") }

    init() throws {
        daemons = try DaemonFixture(pictures: 1)
        scratch = try ScratchDirectory()
    }

    func path(_ name: String) -> String { scratch.url.appending(path: name).path }

    /// Writes a shell script that can be run. Each has the folder in HERE.
    func program(_ lines: String, name: String = "program") throws -> String {
        try scratch.write("#!/bin/sh\nHERE='\(scratch.path)'\n\(lines)\n", name)
        chmod(path(name), 0o755)
        return path(name)
    }

    /// What a program does that only writes down for whom it was called.
    static let note = #"echo "$DARKROOM_ID" >>"$HERE/calls""#

    /// The lines of a file in the folder.
    func lines(_ name: String = "calls") -> [String] { Self.lines(at: path(name)) }

    private static func lines(at path: String) -> [String] {
        let data = FileManager.default.contents(atPath: path) ?? Data()
        return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }

    func touch(_ name: String) throws { try Data().write(to: scratch.url.appending(path: name)) }

    /// Begins `darkroom watch --finished`.
    func watch(
        _ arguments: [String], before: String = ":", environment: [String: String] = [:]
    ) throws -> ClientProcess {
        try ClientProcess(
            ["watch", "--finished", "--spool", spool.path, "--cursor", cursor] + arguments,
            before: before, environment: environment)
    }

    /// The same, and waits until it looks for ends.
    func watchFromNow(
        _ arguments: [String], before: String = ":", environment: [String: String] = [:]
    ) async throws -> ClientProcess {
        let command = try watch(arguments, before: before, environment: environment)
        try await command.until("the cursor") { _ in has("cursor") }
        return command
    }

    /// Waits for so many lines, and returns them.
    @discardableResult
    func wait(
        _ count: Int, in name: String = "calls", _ command: ClientProcess
    ) async throws -> [String] {
        try await eventually(
            "\(count) lines in \(name)",
            context: { "\(self.lines(name)) \(command.text("errors"))" }
        ) {
            let lines = lines(name)
            return lines.count >= count ? lines : nil
        }
    }

    /// Stops it as a service manager does.
    ///
    /// - Parameters:
    ///   - id: the last batch, whose call must have ended before. A program has written its line before its end.
    ///   - cursor: the command's cursor, if it is not in the folder.
    func stop(
        _ command: ClientProcess, after id: String? = nil, cursor: String? = nil
    ) async throws -> ClientProcess.Result {
        if let id {
            try await command.until("the end of the call for \(id)") { _ in
                states(cursor: cursor)[id] == "called"
            }
        }
        try await eventually("the command to expect its end") {
            command.expects(SIGTERM) ? true : nil
        }
        command.send(SIGTERM)
        return try await command.result().replacing(scratch.path, with: "HERE")
    }

    /// Has a daemon end batches, one after the other: rejected ones, which need no picture.
    func end(_ ids: String..., daemon: DaemonProcess) async throws {
        for id in ids {
            try spool.drop("\(id).json", "{}")
            _ = try await spool.finish(id, daemon)
        }
    }

    /// The same at once.
    func end(_ ids: [String], _ daemon: DaemonProcess) async throws {
        for id in ids { try spool.drop("\(id).json", "{}") }
        for id in ids { _ = try await spool.finish(id, daemon) }
    }

    /// The IDs of all answers in the order of their ends.
    func ends() throws -> [String] {
        try spool.list("outbox").map { id in
            (id, try spool.status(of: id)?.times.finished ?? "")
        }.sorted { ($0.1, $0.0) < ($1.1, $1.0) }.map(\.0)
    }

    /// The last states of the batches in the cursor. The last line may be torn.
    func states(cursor: String? = nil) -> [String: String] {
        var states: [String: String] = [:]
        for line in Self.lines(at: cursor ?? self.cursor).dropFirst() {
            let record = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            guard let id = record?["id"] as? String else { continue }
            states[id] = record?["state"] as? String
        }
        return states
    }
}
