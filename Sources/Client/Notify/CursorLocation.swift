import Foundation

/// Where the cursor is: `--cursor`, then the state folder of the service, then that of the user.
package enum CursorLocation {
    private static let name = "finished.cursor"

    /// - Throws: if the user's folder cannot be created.
    package static func path(
        option: String?, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ClientError) -> String {
        if let option { return URL(filePath: option).path }
        // systemd separates several folders by colons.
        if let folders = absolute(environment["STATE_DIRECTORY"]),
            let first = folders.split(separator: ":").first
        {
            return "\(first)/\(name)"
        }
        let state =
            absolute(environment["XDG_STATE_HOME"])
            ?? absolute(environment["HOME"]).map { "\($0)/.local/state" }
        guard let state else {
            throw ClientError(
                .usage, code: "no-cursor",
                "neither STATE_DIRECTORY, XDG_STATE_HOME nor HOME is set",
                remedy: "Name a file with --cursor.")
        }
        let folder = "\(state)/darkroom"
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        } catch {
            throw ClientError(
                .cannotCreate, code: "cursor-folder",
                "\(folder): this folder for the cursor cannot be created"
                    + (SystemCause.of(error).map { ": \($0)" } ?? ""),
                remedy: "Name a file with --cursor.")
        }
        return "\(folder)/\(name)"
    }

    /// A path that is not absolute does not count.
    private static func absolute(_ path: String?) -> String? {
        path.flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
}
