/// What becomes of a picture whose data are damaged: rows are missing, a checksum is wrong, or data contradict
/// themselves. The table of remarks (`Sources/CShims/remarks.c`) says what counts as damage.
package enum DamagedRule: String, Sendable, CaseIterable {
    /// It fails.
    case fail
    /// It is read as far as it goes, with a warning that names the first damaged row. Missing rows are gray, or as
    /// libjpeg conceals them.
    case keep
}
