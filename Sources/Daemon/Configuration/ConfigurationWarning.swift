import DarkroomCore

/// Something about a configuration that is no error, but may not be what was meant.
package struct ConfigurationWarning: Sendable, Equatable {
    package enum Kind: Sendable {
        /// A folder of `sources.roots` cannot be opened now. It may come later, a mount say.
        case rootMissing
        /// Everyone may read the file of `downloads.headers`.
        case headersExposed
    }

    package let kind: Kind
    package let key: String
    package let path: String
    /// Ends what begins with the key.
    let words: String

    package var message: String { "\(key): \(words)" }
}

extension Configuration {
    /// What an administrator is to be told of, as things are now.
    package var warnings: [ConfigurationWarning] { warnings(view: .current) }

    /// - Parameter view: what of the machine can be seen, where that is not all.
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
