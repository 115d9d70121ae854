import Synchronization

/// The present configuration. Each reload replaces it.
final class CurrentConfiguration: Sendable {
    private let loaded: Mutex<ConfigurationLoader.Loaded>

    init(_ loaded: ConfigurationLoader.Loaded) {
        self.loaded = Mutex(loaded)
    }

    var value: ConfigurationLoader.Loaded {
        get { loaded.withLock { $0 } }
        set { loaded.withLock { $0 = newValue } }
    }
}
