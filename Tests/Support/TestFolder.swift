import Foundation

/// A folder in which tests work. The names are paths in it.
package protocol TestFolder: Sendable {
    var root: URL { get }
}

extension TestFolder {
    package var path: String { root.path }

    package func url(_ name: String) -> URL { root.appending(path: name) }

    package func path(_ name: String) -> String { "\(path)/\(name)" }

    package func exists(_ name: String) -> Bool {
        FileManager.default.fileExists(atPath: path(name))
    }

    /// The names in a folder, sorted; empty if there is no such folder.
    package func list(_ name: String = "") -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path(name))) ?? []).sorted()
    }

    package func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: url(name))) }

    package func text(_ name: String) throws -> String {
        try String(contentsOf: url(name), encoding: .utf8)
    }

    /// Writes a file, and makes the folders above it.
    package func write(_ bytes: some Sequence<UInt8>, to name: String) throws {
        try FileManager.default.makeFolder(at: url(name).deletingLastPathComponent())
        try Data(bytes).write(to: url(name))
    }

    package func write(_ text: String, to name: String) throws {
        try write(text.utf8, to: name)
    }

    /// Makes a folder, with those above it.
    package func makeFolder(_ name: String) throws {
        try FileManager.default.makeFolder(at: url(name))
    }

    package func remove(_ name: String) throws { try FileManager.default.removeItem(at: url(name)) }

    package func copy(_ name: String, to other: String) throws {
        try FileManager.default.copyItem(at: url(name), to: url(other))
    }

    package func move(_ name: String, to other: String) throws {
        try FileManager.default.moveItem(at: url(name), to: url(other))
    }

    /// Makes a symbolic link.
    package func link(_ name: String, to destination: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: path(name), withDestinationPath: destination)
    }

    /// Runs a command of the shell in the folder; it must succeed.
    package func shell(_ command: String) throws {
        let (status, _) = try SystemProgram.run("/bin/sh", ["-ec", command], in: path)
        guard status == 0 else { throw FailedCommand(command: command, status: status) }
    }
}

/// A command of the shell that did not succeed.
private struct FailedCommand: Error {
    let command: String
    let status: Int32
}
