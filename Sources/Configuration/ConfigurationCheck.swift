import CDarkroomShims
import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomPicture
import Glibc
import SystemPackage

/// What `--check-config` finds in addition to errors in the texts of a configuration: what would prevent the daemon
/// from starting, or from doing what is configured, on this machine and in the unit that reads the file. If no unit
/// reads it, the check assumes that the daemon runs as the user who calls it.
package struct ConfigurationCheck {
    /// What would prevent the daemon from starting.
    package private(set) var problems: [String] = []
    package private(set) var warnings: [String] = []
    /// The text of a drop-in for the unit, with which it sees all hot folders and can deliver; nil if it does already, or if no unit
    /// reads the configuration.
    package private(set) var dropIn: String?

    private let loaded: ConfigurationLoader.Loaded
    private var configuration: Configuration { loaded.configuration }

    /// - Parameter unit: the unit that reads the file; nil if none does, or if nothing is known about it.
    package init(_ loaded: ConfigurationLoader.Loaded, unit: ServiceUnit?) {
        self.loaded = loaded
        let unusable = folders(asOwnUser: unit == nil)
        problems = inOrder(unusable)
        var warnings = configuration.warnings.map { ($0.key, $0.words) }
        if let words = metricsFolder(asOwnUser: unit == nil) {
            warnings.append(("metrics.textfile", words))
        }
        warnings += unusableFolders(under: unit).map { ("folders", $0) }
        let ofResults = "images wait until their results can be delivered there"
        let ofOriginals = "batches wait until their originals can be moved there"
        let targets: [(String, String, String)] =
            configuration.deliveries.map { ("folders", $0.folder, ofResults) }
            + configuration.deliveryRoots.map { ("deliver.roots", $0, ofResults) }
            + configuration.places.map { ("folders", $0.folder, ofOriginals) }
        warnings += targets.compactMap { key, path, rest in
            undeliverable(path, under: unit).map { (key, "\($0); \(rest)") }
        }
        if configuration.defaultFilters.cutBefore {
            let key = "manifests.defaultFilters"
            warnings.append((key, [Filter].changedThumbnail("of \(key)")))
        }
        if let unit {
            dropIn = Self.dropIn(for: unit, neededFolders)
            // If the folder cannot be used at all, the advice to bind it would not help.
            warnings += unseen(by: unit).filter { finding in
                !unusable.contains { $0.key == finding.key }
            }
            if let words = stopTimeout(under: unit) { warnings.append(("stop.timeout", words)) }
        }
        self.warnings = inOrder(warnings) + Self.changedRecipes(of: configuration)
    }

    /// Recipes that have another meaning than in older versions.
    private static func changedRecipes(of configuration: Configuration) -> [String] {
        guard let folder = configuration.recipesFolder else { return [] }
        return configuration.recipes.all.flatMap { recipe in
            recipe.warnings.map { "\(FileName(folder).text)/\(recipe.name).yaml: \($0)" }
        }
    }

    /// The findings with their places, in the order of these places.
    private func inOrder(_ findings: [(key: String, words: String)]) -> [String] {
        findings.enumerated().map { number, finding in
            let setting = loaded[finding.key]
            let prefix = setting?.place == nil ? finding.key : setting?.prefix ?? finding.key
            let place = setting?.place ?? .file(line: 0)
            return (place: place, number: number, text: "\(prefix): \(finding.words)")
        }
        .sorted { ($0.place, $0.number) < ($1.place, $1.number) }
        .map(\.text)
    }

    // MARK: Folders

    /// A spool and a cache that can never exist at their paths, or that this user may not use.
    private func folders(asOwnUser: Bool) -> [(key: String, words: String)] {
        var findings: [(String, String)] = []
        let spool = configuration.spool
        if let words = Self.obstacle(to: spool)
            ?? (asOwnUser ? FolderAccess.ofSpool(spool)?.words : nil)
        {
            findings.append(("spool", words))
        }
        for (key, folder) in cacheFolders {
            let parent = FilePath(folder).removingLastComponent().string
            let words =
                Self.obstacle(to: folder)
                ?? (Self.isMissing(parent)
                    ? "there is no folder \(parent); only the last part of the path is created"
                    : nil)
                ?? (asOwnUser ? FolderAccess.ofCache(folder)?.words : nil)
            if let words { findings.append((key, words)) }
        }
        if let words = missingResults { findings.append(("results.maxBytes", words)) }
        return findings
    }

    /// A store of results is asked for, and nothing says where it is.
    private var missingResults: String? {
        guard configuration.resultBytes > 0, configuration.resultsFolder == nil,
            configuration.cacheFolder == nil, CacheStore.givenPath() == nil,
            Self.isMissing(CacheStore.standardPath)
        else { return nil }
        return
            "there is no folder \(CacheStore.standardPath), in which results are stored by default; results.folder names another one"
    }

    /// The folders of the caches that are used, if they are set.
    private var cacheFolders: [(key: String, folder: String)] {
        [
            ("cache.folder", configuration.cacheFolder, configuration.cacheBytes),
            ("results.folder", configuration.resultsFolder, configuration.resultBytes),
        ].compactMap { key, folder, bytes in
            bytes > 0 ? folder.map { (key, $0) } : nil
        }
    }

    /// The reason why there can be no folder at a path, as far as this can be known without creating one.
    private static func obstacle(to path: String) -> String? {
        var existing = FilePath(path).lexicallyNormalized()
        while isMissing(existing.string), existing.removeLastComponent() {}
        // If this user may not examine the path and the daemon is to run as this user, FolderAccess reports it.
        guard let information = stat(path: existing.string) else { return nil }
        guard information.isFolder else { return "\(existing) is not a folder" }
        guard let folder = try? Directory(path: existing.string),
            KernelFileSystem.isOne(folder.number)
        else { return nil }
        return "\(existing) is a file system of the kernel, which cannot store files"
    }

    private static func isMissing(_ path: String) -> Bool {
        stat(path: path, followsLink: false) == nil && [ENOENT, ENOTDIR].contains(errno)
    }

    private func metricsFolder(asOwnUser: Bool) -> String? {
        guard let file = configuration.metricsFile else { return nil }
        let folder = FilePath(file).removingLastComponent().string
        let obstacle =
            Self.isMissing(folder)
            ? "there is no folder \(folder)"
            : asOwnUser ? FolderAccess.toWriteInto(folder) : nil
        return obstacle.map { "\($0); the metrics cannot be written" }
    }

    // MARK: The unit

    /// Paths that exist, but that the service cannot access.
    private func unseen(by unit: ServiceUnit) -> [(key: String, words: String)] {
        guard let view = unit.view else { return [] }
        var findings: [(String, String)] = []
        func look(_ key: String, _ path: String, _ wanted: ServiceView.Access) {
            // The unit contains the defaults, and an instance has a spool and a cache with its own name.
            guard loaded[key]?.place != nil else { return }
            // A missing file is reported elsewhere.
            guard wanted == .writing || !Self.isMissing(path) else { return }
            // A symbolic link may lead to a path that is not bound.
            let remedy =
                view.remedy(for: path, wanting: wanted)
                ?? path.realPath.flatMap { view.remedy(for: $0, wanting: wanted) }
            if let remedy { findings.append((key, remedy)) }
        }
        func folder(_ file: String) -> String { FilePath(file).removingLastComponent().string }
        look("spool", configuration.spool, .writing)
        for root in configuration.sourceRoots { look("sources.roots", root, .reading) }
        for folder in configuration.folders { look("folders", folder.path, folder.access) }
        for root in configuration.deliveryRoots { look("deliver.roots", root, .writing) }
        for delivery in configuration.deliveries { look("folders", delivery.folder, .writing) }
        for place in configuration.places { look("folders", place.folder, .writing) }
        if let path = configuration.downloads.caFile {
            look("downloads.caFile", folder(path), .reading)
        }
        if let path = configuration.downloads.headersFile {
            look("downloads.headers", folder(path), .reading)
        }
        for (key, folder) in cacheFolders { look(key, folder, .writing) }
        if let path = configuration.metricsFile, !Self.isMissing(folder(path)) {
            look("metrics.textfile", folder(path), .writing)
        }
        return findings
    }

    /// The hot folders, and those to which outputs are delivered or originals move.
    private var neededFolders: [(path: String, access: ServiceView.Access)] {
        configuration.folders.map { ($0.path, $0.access) }
            + (configuration.deliveries.map(\.folder) + configuration.places.map(\.folder)
            + configuration.deliveryRoots).map { ($0, .writing) }
    }

    /// The lines that a unit lacks for these folders, as `systemctl edit` expects them.
    private static func dropIn(
        for unit: ServiceUnit, _ folders: [(path: String, access: ServiceView.Access)]
    ) -> String? {
        guard let view = unit.view else { return nil }
        var lines: [String] = []
        for folder in folders {
            for line in view.lines(for: folder.path, wanting: folder.access)
            where !lines.contains(line) {
                lines.append(line)
            }
        }
        guard !lines.isEmpty else { return nil }
        // A second ProtectHome= would replace the first one.
        lines.sort { $0.hasPrefix("ProtectHome") && !$1.hasPrefix("ProtectHome") }
        return (["[Service]"] + lines).joined(separator: "\n")
    }

    /// Hot folders that do not exist, that the daemon would refuse, or that this user cannot use as configured. The words
    /// are those of the daemon.
    private func unusableFolders(under unit: ServiceUnit?) -> [String] {
        configuration.folders.compactMap { folder -> String? in
            func access() -> String? {
                FolderAccess.toTake(from: folder.path, changing: folder.access == .writing)
            }
            do throws(FileError) {
                let opened = try Directory(path: folder.path)
                if unit == nil, let words = access() { return words }
                let way = TrustedPath(to: try opened.information(), for: unit?.userID ?? geteuid())
                return way.problem(opened).map { "\(folder.path): \($0)" }
            } catch  where error.errno == .permissionDenied {
                // The user of the service may see more than this one.
                return unit == nil ? access() ?? error.message : nil
            } catch {
                return error.message
            }
        }
    }

    /// Why nothing can be delivered, and no original moved, to a folder now; nil if it can.
    private func undeliverable(_ path: String, under unit: ServiceUnit?) -> String? {
        do throws(FileError) {
            let folder = try Directory(path: path)
            let way = TrustedPath(to: try folder.information(), for: unit?.userID ?? geteuid())
            return (unit == nil ? FolderAccess.toWriteInto(path) : nil)
                ?? way.problem(folder).map { "\(path): \($0)" }
        } catch {
            // The user of the service may see more than this one.
            return error.errno == .permissionDenied && unit != nil ? nil : error.message
        }
    }

    private func stopTimeout(under unit: ServiceUnit) -> String? {
        guard let limit = unit.stopTimeout, configuration.stopTimeout >= limit else { return nil }
        let own = Quantity.text(seconds: configuration.stopTimeout)
        let units = "TimeoutStopSec=\(Quantity.text(seconds: limit)) of \(unit.name)"
        return unit.isHeard
            ? "\(own) is not less than \(units): systemd waits longer only while the daemon asks for it, "
                + "which it does while its work makes progress"
            : "\(own) is not less than \(units), after which systemd kills the daemon"
    }
}

extension HotFolder {
    /// The access that the daemon needs.
    fileprivate var access: ServiceView.Access { originals == .keep ? .reading : .writing }
}

/// File systems in which the kernel shows its own data. Users did not write their content and cannot store files there.
enum KernelFileSystem {
    /// From linux/magic.h.
    private static let magics: Set<Int64> = [
        0x9FA0,  // PROC_SUPER_MAGIC
        0x6265_6572,  // SYSFS_MAGIC
        0x27E0_EB,  // CGROUP_SUPER_MAGIC
        0x6367_7270,  // CGROUP2_SUPER_MAGIC
        0x1CD1,  // DEVPTS_SUPER_MAGIC
        0x6462_6720,  // DEBUGFS_MAGIC
        0x7472_6163,  // TRACEFS_MAGIC
        0x7363_6673,  // SECURITYFS_MAGIC
        0xCAFE_4A11,  // BPF_FS_MAGIC
        0x6165_676C,  // PSTOREFS_MAGIC
        0x6265_6570,  // CONFIGFS_MAGIC
        0x1980_0202,  // MQUEUE_MAGIC
    ]

    static func isOne(_ descriptor: Int32) -> Bool {
        magics.contains(darkroom_filesystem_type(descriptor))
    }
}
