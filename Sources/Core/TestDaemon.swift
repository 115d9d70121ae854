package enum TestDaemon {
    /// This environment variable makes a daemon log to standard error only and not to the system's journal, because
    /// users of the real daemon do not need the thousands of records of killed test daemons.
    package static let variable = "DARKROOM_SELF_TEST"
}
