import Glibc
import SystemPackage

/// Reading and writing at a place of the file, without a change of its position.
extension Descriptor {
    /// Reads once.
    ///
    /// - Returns: the number of bytes; 0 at the end of the file.
    package func read(
        into buffer: UnsafeMutableRawBufferPointer, at place: Int
    ) throws(Errno) -> Int {
        try file.read(into: buffer, at: place)
    }

    /// At most `count` bytes; fewer only at the end of the file.
    package func read(_ count: Int, at place: Int, path: String) throws(FileError) -> [UInt8] {
        do throws(Errno) {
            return try file.bytes(count, at: place)
        } catch {
            throw FileError(.read, path, error)
        }
    }

    /// The byte at a place; nil after the end of the file.
    package func byte(at place: Int, path: String) throws(FileError) -> UInt8? {
        try read(1, at: place, path: path).first
    }

    package func write(_ bytes: UnsafeRawBufferPointer, at place: Int) throws(Errno) {
        var rest = bytes
        var place = place
        while !rest.isEmpty {
            let count = try retryingInterrupts {
                pwrite(number, rest.baseAddress, rest.count, place)
            }
            // This never happens with a file. An endless loop would block all other work of the thread.
            if count == 0 { throw .ioError }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            place += count
        }
    }

    package func write(_ bytes: [UInt8], at place: Int, path: String) throws(FileError) {
        do throws(Errno) {
            try bytes.withUnsafeBufferPointer { bytes throws(Errno) in
                try write(UnsafeRawBufferPointer(bytes), at: place)
            }
        } catch {
            throw FileError(.write, path, error)
        }
    }
}

extension FileDescriptor {
    fileprivate func read(
        into buffer: UnsafeMutableRawBufferPointer, at place: Int
    ) throws(Errno) -> Int {
        try retryingInterrupts { Glibc.pread(rawValue, buffer.baseAddress, buffer.count, place) }
    }

    /// At most `count` bytes at a place of the file, without a change of its position; fewer only at its end.
    package func bytes(_ count: Int, at place: Int) throws(Errno) -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: count) { buffer, filled throws(Errno) in
            filled = 0
            while filled < count {
                let rest = UnsafeMutableRawBufferPointer(buffer)[filled...]
                let length = try read(
                    into: UnsafeMutableRawBufferPointer(rebasing: rest), at: place + filled)
                if length == 0 { return }
                filled += length
            }
        }
    }
}
