import SystemPackage

/// Does something with a file; nil if it, or the folder that it would be in, does not exist.
@discardableResult
package func ifExists<Value: ~Copyable>(
    _ body: () throws(FileError) -> Value?
) throws(FileError) -> Value? {
    do throws(FileError) {
        return try body()
    } catch  where error.errno == .noSuchFileOrDirectory {
        return nil
    }
}

/// The same for an expression.
@discardableResult
package func ignoringMissing<Value: ~Copyable>(
    _ value: @autoclosure () throws(FileError) -> Value?
) throws(FileError) -> Value? {
    try ifExists(value)
}
