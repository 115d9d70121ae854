import DarkroomAnswer
import DarkroomConfiguration
import DarkroomCore
import DarkroomManifest
import DarkroomSpool

/// What the configuration says about a hot folder besides its own keys.
struct HotFolderSettings: Sendable, Equatable {
    var isDurable = true
    /// How long a file must be unchanged that was not renamed into its folder, in seconds.
    var settle = 0.0
    /// Seconds between two looks at a folder, which are listings if inotify does not work there.
    var poll = 0.0
    /// Seconds between two listings of a folder if inotify works; 0 for no listings.
    var rescan = 0.0
    var maximumBytes = 0
    /// The names of files and folders that are left alone.
    var ignored = IgnoredNames.standard
    /// Of a batch, so that its images with all variants are not more than a manifest may have.
    var maximumPictures = 0
}

extension HotFolderSettings {
    init(_ configuration: Configuration, _ folder: HotFolder) {
        self.init(
            isDurable: configuration.isDurable, settle: configuration.settle,
            poll: configuration.pollInterval, rescan: configuration.rescanInterval,
            maximumBytes: configuration.downloads.maxBytes, ignored: configuration.ignoredNames,
            maximumPictures: max(
                1, configuration.manifestLimits.images / configuration.imagesPerPicture(of: folder))
        )
    }
}
