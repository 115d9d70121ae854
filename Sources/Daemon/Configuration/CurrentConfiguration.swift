import Synchronization

/// The present configuration. Each reload replaces it.
final class CurrentConfiguration: Sendable {
    private let configuration: Mutex<Configuration>

    init(_ configuration: Configuration) {
        self.configuration = Mutex(configuration)
    }

    var value: Configuration {
        get { configuration.withLock { $0 } }
        set { configuration.withLock { $0 = newValue } }
    }
}
