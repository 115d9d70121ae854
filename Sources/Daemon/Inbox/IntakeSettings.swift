import DarkroomSpool

/// How manifests are taken. A change counts for what is looked at after it.
package struct IntakeSettings: Sendable {
    /// Whether what is written is synced before it counts.
    var isDurable = true
    /// Seconds between looks into the inbox where inotify cannot work.
    var pollInterval = 0.0
    /// Seconds between scans of the inbox where inotify works; 0 for none.
    var rescanInterval = 0.0
    /// Claimed batches that may wait.
    var maximumWaiting = 0
    var examination: Examination
}
