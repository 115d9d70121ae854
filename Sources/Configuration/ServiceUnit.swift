import DarkroomCore
import Foundation

/// The unit that reads a configuration, as systemd describes it, with its drop-ins.
package struct ServiceUnit: Sendable, Equatable {
    /// For example `darkroomd.service`.
    package let name: String
    /// The part of the machine that the unit can see; nil if its root folder is the machine's.
    let view: ServiceView?
    /// Seconds after which systemd kills the stopping unit; nil for never.
    let stopTimeout: Double?
    /// Whether systemd accepts the daemon's requests for more time.
    let isHeard: Bool
    /// As whom the daemon runs; nil if there is no such user.
    let userID: uid_t?

    /// The unit that reads this configuration file; nil if none of ours does.
    package static func name(forConfiguration path: String?) -> String? {
        guard let path, path != ConfigurationLoader.standardPath else { return "darkroomd.service" }
        guard let match = path.wholeMatch(of: /\/etc\/darkroom\/([\w.\-]+)\.yaml/) else {
            return nil
        }
        return "darkroomd@\(match.1).service"
    }

    static let properties = [
        "LoadState", "RootDirectory", "BindPaths", "BindReadOnlyPaths", "ReadOnlyPaths",
        "ReadWritePaths", "InaccessiblePaths", "CacheDirectory", "StateDirectory", "LogsDirectory",
        "ProtectHome", "TimeoutStopUSec", "NotifyAccess", "User",
    ]

    /// - Parameter shown: the output of `systemctl show` for these properties.
    /// - Returns: nil if there is no such unit.
    init?(name: String, shown: String) {
        var values: [Substring: Substring] = [:]
        for line in shown.split(separator: "\n") {
            guard let equals = line.firstIndex(of: "=") else { continue }
            values[line[..<equals]] = line[line.index(after: equals)...]
        }
        guard values["LoadState"] == "loaded" else { return nil }
        self.name = name
        stopTimeout = Self.seconds(values["TimeoutStopUSec"] ?? "")
        isHeard = values["NotifyAccess"] != "none"
        userID = Self.userID(String(values["User"] ?? ""))
        view =
            values["RootDirectory"]?.isEmpty == false
            ? ServiceView(unit: name, properties: values) : nil
    }

    private static func userID(_ name: String) -> uid_t? {
        if name.isEmpty { return 0 }
        return uid_t(name) ?? getpwnam(name)?.pointee.pw_uid
    }

    /// A time as systemd prints it, for example `1min 30s`; nil for `infinity` and for texts that are not a time.
    static func seconds(_ text: some StringProtocol) -> Double? {
        let units = [
            "y": 31_557_600, "month": 2_629_800, "w": 604_800, "d": 86400, "h": 3600, "min": 60,
            "s": 1, "ms": 1e-3, "us": 1e-6,
        ]
        let parts = text.split(separator: " ").map { part -> Double? in
            let digits = part.prefix { $0.isNumber || $0 == "." }
            guard let number = Double(digits),
                let unit = units[String(part.dropFirst(digits.count))]
            else { return nil }
            return number * unit
        }
        let known = parts.compactMap(\.self)
        return known.isEmpty || known.count < parts.count ? nil : known.reduce(0, +)
    }
}

extension ServiceView {
    fileprivate init(unit: String, properties: [Substring: Substring]) {
        var folders: [(path: String, access: Access)] = []
        // The unit's are not the machine's either, but users have no files of their own there.
        for path in ["/proc", "/sys", "/dev"] { folders.append((path, .reading)) }
        for path in Self.destinations(properties["BindReadOnlyPaths"]) {
            folders.append((path, .reading))
        }
        for path in Self.destinations(properties["BindPaths"]) { folders.append((path, .writing)) }
        for (key, parent) in [
            ("CacheDirectory", "/var/cache"), ("StateDirectory", "/var/lib"),
            ("LogsDirectory", "/var/log"),
        ] {
            for name in properties[key[...]]?.split(separator: " ") ?? [] {
                folders.append(("\(parent)/\(name.prefix { $0 != ":" })", .writing))
            }
        }
        let bound = ServiceView(unit: unit, hidesHomes: false, folders: folders)
        for (key, access) in [
            ("ReadOnlyPaths", Access.reading), ("ReadWritePaths", .writing),
            ("InaccessiblePaths", .nothing),
        ] {
            for path in Self.destinations(properties[key[...]])
            where bound.access(to: path) > .nothing {
                folders.append((path, access))
            }
        }
        self.init(
            unit: unit.hasSuffix(".service") ? String(unit.dropLast(".service".count)) : unit,
            hidesHomes: properties["ProtectHome"] == "yes", folders: folders)
    }

    /// The paths inside the service of a list such as `/etc:/etc:rbind -/srv:/srv:rbind`. Spaces separate the entries,
    /// and a path may contain spaces too. But each new entry begins with a slash.
    private static func destinations(_ list: Substring?) -> [String] {
        var entries: [String] = []
        for word in (list ?? "").split(separator: " ", omittingEmptySubsequences: false) {
            let bare = word.drop { $0 == "-" || $0 == "+" }
            if bare.hasPrefix("/") || entries.isEmpty {
                entries.append(String(bare))
            } else {
                entries[entries.count - 1] += " " + word
            }
        }
        return entries.compactMap { entry in
            let parts = entry.split(separator: ":")
            return parts.isEmpty ? nil : String(parts[min(1, parts.count - 1)])
        }
    }
}
