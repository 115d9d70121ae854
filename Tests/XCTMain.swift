import Testing

/// Begins the tests. The package manager would write it, after a search for tests of XCTest in an index.
@main struct TestEntry {
    static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
