import DarkroomCore
import Foundation
import Yams

/// Where the spool is: `--spool`, then `DARKROOM_SPOOL`, then the key `spool` of the daemon's configuration, then
/// `/var/spool/darkroom`.
package enum SpoolLocation {
    package static let variable = "DARKROOM_SPOOL"
    package static let configuration = "/etc/darkroom/darkroomd.yaml"
    package static let standard = "/var/spool/darkroom"

    package static func path(
        option: String?, environment: [String: String] = ProcessInfo.processInfo.environment,
        configuration: String = Self.configuration
    ) -> String {
        if let option { return option }
        if let path = environment[variable], !path.isEmpty { return path }
        return configuredPath(configuration) ?? standard
    }

    /// nil if the file does not exist, cannot be read, or has no such key. The daemon reports errors in it.
    private static func configuredPath(_ file: String) -> String? {
        guard let bytes = try? WholeFile.bytes(of: file, upTo: FileLimit.configuration),
            // Rules for kinds of scalars would take longer than the file.
            let root = try? Yams.compose(yaml: String(decoding: bytes, as: UTF8.self), .basic),
            let (_, value) = root.mapping?.first(where: { $0.key.scalar.map(\.string) == "spool" }),
            value.null == nil
        else { return nil }
        return value.scalar?.string
    }
}
