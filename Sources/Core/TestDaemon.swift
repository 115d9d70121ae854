/// How a daemon knows that a test runs it.
package enum TestDaemon {
    /// In its environment: it leaves the system's journal alone and says everything on standard error, for the
    /// thousands of records of daemons that are killed concern nobody who runs the real one.
    package static let variable = "DARKROOM_SELF_TEST"
}
