import DarkroomConfiguration
import DarkroomSpool

/// The settings of the intake. A change applies to files that are examined after it.
package struct IntakeSettings: Sendable {
    /// Whether data is synced before Darkroom relies on it.
    var isDurable = true
    /// Seconds between two scans of the inbox if inotify cannot work.
    var pollInterval = 0.0
    /// Seconds between two scans of the inbox if inotify works; 0 for no scans.
    var rescanInterval = 0.0
    /// The maximum number of claimed batches that wait.
    var maximumWaiting = 0
    var examination: Examination
}

extension Configuration {
    var intakeSettings: IntakeSettings {
        IntakeSettings(
            isDurable: isDurable, pollInterval: pollInterval, rescanInterval: rescanInterval,
            maximumWaiting: maximumWaiting, examination: examination)
    }
}
