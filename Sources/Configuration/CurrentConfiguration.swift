import Synchronization

/// The present configuration. Each reload replaces it.
package final class CurrentConfiguration: Sendable {
    private let loaded: Mutex<ConfigurationLoader.Loaded>

    package init(_ loaded: ConfigurationLoader.Loaded) { self.loaded = Mutex(loaded) }

    package var value: ConfigurationLoader.Loaded {
        get { loaded.withLock { $0 } }
        set { loaded.withLock { $0 = newValue } }
    }
}
