import DarkroomCore

/// Something in a configuration that is not an error, but that the administrator may not have intended.
package struct ConfigurationWarning: Sendable, Equatable {
    package enum Kind: Sendable {
        /// A folder of `sources.roots` cannot be opened now. It may appear later, for example as a mount.
        case rootMissing
        /// Every user can read the file of `downloads.headers`.
        case headersExposed
    }

    package let kind: Kind
    package let key: String
    package let path: String
    /// The end of a message that begins with the key.
    let words: String

    package var message: String { "\(key): \(words)" }
}

extension Configuration {
    /// The warnings for the administrator, about the present state of the machine.
    package var warnings: [ConfigurationWarning] { warnings(view: .current) }

    /// - Parameter view: the part of the machine that the daemon can see; nil for all of it.
    func warnings(view: ServiceView?) -> [ConfigurationWarning] {
        var warnings: [ConfigurationWarning] = []
        if downloads.headersAreExposed, let path = downloads.headersFile {
            warnings.append(
                ConfigurationWarning(
                    kind: .headersExposed, key: "downloads.headers", path: path,
                    words: "\(path) contains secrets, but every user of this machine can read it"))
        }
        for root in sourceRoots {
            do {
                _ = try Directory(path: root)
            } catch {
                let folders = Setting.several(in: root, separators: ",;:") { $0.hasPrefix("/") }
                let remedy =
                    folders.map { "for several folders, write \($0)" }
                    ?? view?.remedy(for: root, wanting: .reading)
                warnings.append(
                    ConfigurationWarning(
                        kind: .rootMissing, key: "sources.roots", path: root,
                        words: "\(error.message); \(remedy ?? "no source beneath it can be read")"))
            }
        }
        return warnings
    }
}
