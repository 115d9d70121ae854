import DarkroomBatch
import DarkroomConfiguration
import DarkroomFetch
import DarkroomPicture

extension ConfigurationLoader.Loaded {
    /// The settings of a run: those of the daemon, except where a person at a terminal expects something else.
    ///
    /// - Parameter base: the folder at which relative sources begin.
    func runSettings(base: String) -> BatchSettings {
        var settings = configuration.batchSettings
        settings.isDurable = isDurableRun
        if !isSet("sources.roots") {
            settings.localSources = LocalSources(
                relativeTo: base, maximumBytes: Int64(configuration.downloads.maxBytes))
        }
        return settings
    }

    /// Whether the results of a run survive a power cut.
    var isDurableRun: Bool { configuration.isDurable }

    /// Whether somebody has set this key.
    func isSet(_ key: String) -> Bool {
        settings.contains { $0.setting.key == key && $0.place != nil }
    }
}

/// What a run decides for the whole process.
package enum RunSettings {
    /// Pictures borrow idle cores; with fewer jobs than cores, they leave the others alone.
    package static func restrictCores(to jobs: Int) { Cores.shared.restrict(to: jobs) }
}
