import CDarkroomShims
import Glibc
import SystemPackage

extension Descriptor {
    /// Reads from the current position to the end, at most `maximum` + 1 bytes.
    ///
    /// - Parameters:
    ///   - length: the length of a regular file that is read from its beginning, if it is known. A short read that ends
    ///     there is the end of the file.
    ///   - stop: checked between the pieces; if it is set, this throws ECANCELED.
    ///   - waits: whether it waits for a stream of the parent that is not ready (`StandardStream`). A FIFO of somebody
    ///     else is not waited for.
    package func readAll(
        upTo maximum: Int, length: Int? = nil, path: String, stop: CancellationFlag? = nil,
        waits: Bool = false
    ) throws(FileError) -> [UInt8] {
        var bytes: [UInt8] = []
        let number = number
        do throws(Errno) {
            try withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 16) {
                buffer throws(Errno) in
                while bytes.count <= maximum {
                    if stop?.isSet == true { throw .canceled }
                    let wanted = min(buffer.count, maximum + 1 - bytes.count)
                    let read = { Glibc.read(number, buffer.baseAddress, wanted) }
                    let count =
                        waits
                        ? try StandardStream.waiting(for: POLLIN, of: number, read)
                        : try retryingInterrupts(read)
                    if count == 0 { return }
                    bytes.append(contentsOf: buffer[..<count])
                    if count < wanted, bytes.count == length { return }
                }
            }
        } catch {
            throw FileError(.read, path, error)
        }
        return bytes
    }

    /// All bytes of a file that has this length, without a change of its position; nil if it has another length now.
    package func content(ofLength length: Int) throws(Errno) -> [UInt8]? {
        // One byte more would show that the file continues.
        let wanted = length + 1
        let bytes = try [UInt8](unsafeUninitializedCapacity: wanted) {
            buffer, filled throws(Errno) in
            filled = try retryingInterrupts { pread(number, buffer.baseAddress, wanted, 0) }
        }
        return bytes.count == length ? bytes : nil
    }

    package func write(_ bytes: some Collection<UInt8>, path: String) throws(FileError) {
        var failure: Errno?
        let done: Void? = bytes.withContiguousStorageIfAvailable { buffer in
            failure = writeAll(UnsafeRawBufferPointer(buffer))
        }
        if done == nil { failure = Array(bytes).withUnsafeBytes { writeAll($0) } }
        if let failure { throw FileError(.write, path, failure) }
    }

    /// Writes all bytes into an empty file. Whole blocks of zeros become holes.
    package func write(sparsely bytes: [UInt8], path: String) throws(FileError) {
        let end = try write(sparsely: bytes, at: 0, path: path)
        if end < bytes.count { try truncate(to: bytes.count, path: path) }
    }

    /// Writes a piece of a file that has nothing at this place yet. Whole blocks of zeros are left out. If the last
    /// block of the file is one of them, only `truncate(to:path:)` gives the file its length.
    ///
    /// - Returns: the end of what was written; `place` if all was left out.
    package func write(
        sparsely bytes: [UInt8], at place: Int, path: String
    ) throws(FileError) -> Int {
        let block = 64 << 10
        var end = place
        for start in stride(from: 0, to: bytes.count, by: block) {
            let piece = bytes[start..<min(start + block, bytes.count)]
            if piece.allSatisfy({ $0 == 0 }) { continue }
            // A new file is at its beginning.
            if place + start > 0 {
                guard lseek(number, place + start, SEEK_SET) >= 0 else {
                    throw FileError(.write, path, Errno(rawValue: errno))
                }
            }
            try write(piece, path: path)
            end = place + piece.endIndex
        }
        return end
    }

    private func writeAll(_ buffer: UnsafeRawBufferPointer) -> Errno? {
        var rest = buffer
        while !rest.isEmpty {
            do {
                let count = try retryingInterrupts {
                    Glibc.write(number, rest.baseAddress, rest.count)
                }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } catch {
                return error
            }
        }
        return nil
    }

    package func information(path: String) throws(FileError) -> stat {
        var information = stat()
        _ = try retryingInterrupts(.examine, path) { fstat(number, &information) }
        return information
    }

    package func length(path: String) throws(FileError) -> Int {
        try information(path: path).length
    }

    /// Where the last line begins that is not complete: behind the last newline before this place; 0 if there is none.
    /// It reads backwards in pieces, because a line may have any length.
    package func lastLine(before end: Int, path: String) throws(FileError) -> Int {
        var end = end
        while end > 0 {
            let begin = max(0, end - Self.piece)
            let piece = try read(end - begin, at: begin, path: path)
            if let newline = piece.lastIndex(of: UInt8(ascii: "\n")) { return begin + newline + 1 }
            end = begin
        }
        return 0
    }

    package func truncate(to length: Int, path: String) throws(FileError) {
        _ = try retryingInterrupts(.truncate, path) { ftruncate(number, length) }
    }

    /// Makes the kernel begin to write the file's content. Then a later sync waits less, and several files share the
    /// wait. This is only a hint; the sync reports errors. For a small file it costs more than it saves.
    ///
    /// - Parameter bytes: the length of the content, if it is known.
    package func startWriting(bytes: Int = .max) {
        if bytes >= 64 << 10 { _ = darkroom_start_writing(number) }
    }

    /// Waits until the file's content is on the disk. A failure is final: the kernel may have dropped the pages, and a
    /// second call would succeed without them (PostgreSQL, 2018).
    package func sync(path: String) throws(FileError) {
        _ = try retryingInterrupts(.sync, path) { fsync(number) }
    }
}
