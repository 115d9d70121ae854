import Testing

extension Tag {
    /// Several threads at once are the subject. `bash Tests/run.sh tsan` runs these under ThreadSanitizer.
    @Tag package static var concurrency: Self
}
