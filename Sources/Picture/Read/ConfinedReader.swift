import CDarkroomCodecWire
import CDarkroomShims
import DarkroomCore
import Glibc
import Synchronization

/// The shim's reader of a picture in a codec process, `darkroom-codec-basic`. Each call is a message, and so is its answer;
/// `darkroom_remote.h` has both.
///
/// Nothing that the process says is trusted: the state is copied before it is used, and its numbers are checked. After a
/// failure of the process, each further call fails in the same way.
///
/// A thread may take compressed data while another one reads rows, so a lock lets one call go on after the other.
///
/// `ConfinedPNGCalls` and `ConfinedJPEGCalls` add the calls of their formats.
class ConfinedReader: @unchecked Sendable {
    /// Held for a call, and whenever `state` or `failure` is used.
    private let lock = Mutex(())
    private let call: CodecCall
    private let name: String
    private var state = darkroom_remote_state()
    private var failure: PictureError?

    /// The largest piece of metadata.
    let mostMetadata: Int
    /// The number of good rows of the last call that read rows. Only the thread that reads rows uses it.
    private(set) var lastCount = 0

    static let program = CodecProgram("basic")

    /// Where rows and bytes lie.
    private var data: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: call.slots.dropFirst(Int(DARKROOM_REMOTE_DATA)))
    }

    /// - Parameter program: another one is for tests.
    init(
        _ function: darkroom_remote_function, _ input: PictureDecoder.Input,
        _ program: CodecProgram?
    ) throws(PictureError) {
        let limits = input.limits
        call = try CodecCall(decoding: input, by: program ?? Self.program)
        name = input.name
        mostMetadata = limits.ancillaryBytes
        try ask(
            function, "reading the first bytes", first: limits.damaged == .keep ? 1 : 0,
            bytes: limits.largestAllocation, offset: limits.ancillaryBytes)
    }

    // MARK: Calls

    /// Has a function called.
    ///
    /// - Parameters:
    ///   - step: what this is for, for messages.
    ///   - sent: what is written to the data before.
    ///   - received: gets the data after it, and the state.
    func ask<Result>(
        _ function: darkroom_remote_function, _ step: String, first: Int = 0, count: Int = 0,
        bytes: Int = 0, offset: Int = 0, sent: some Collection<UInt8> = [],
        received: (darkroom_remote_state, UnsafeRawBufferPointer) -> Result?
    ) throws(PictureError) -> Result {
        var result: Result?
        let failed = lock.withLock { _ -> PictureError? in
            if failure == nil {
                do throws(PictureError) {
                    data.copyBytes(from: sent)
                    try call(
                        function, step, first: first, count: count, bytes: bytes, offset: offset)
                    result = received(state, UnsafeRawBufferPointer(data))
                    if result == nil { failure = call.nonsense(step) }
                } catch {
                    failure = error
                }
            }
            return failure
        }
        guard let result else { throw failed ?? call.nonsense(step) }
        return result
    }

    /// Sends a call, waits for its answer, and copies the state.
    private func call(
        _ function: darkroom_remote_function, _ step: String, first: Int, count: Int, bytes: Int,
        offset: Int
    ) throws(PictureError) {
        var message = darkroom_codec_message(DARKROOM_CODEC_CALL)
        message.bits = function.rawValue
        message.first = UInt32(clamping: first)
        message.count = UInt32(clamping: count)
        message.bytes = UInt64(bytes)
        message.offset = UInt64(offset)
        call.say(message)
        let answer = try call.hear(step)
        guard answer.isA(DARKROOM_CODEC_ANSWER), answer.bits == function.rawValue else {
            throw call.nonsense(step)
        }
        withUnsafeMutableBytes(of: &state) { to in
            to.copyMemory(from: UnsafeRawBufferPointer(rebasing: call.slots.prefix(to.count)))
        }
    }

    func ask(
        _ function: darkroom_remote_function, _ step: String, first: Int = 0, count: Int = 0,
        bytes: Int = 0, offset: Int = 0
    ) throws(PictureError) {
        try ask(
            function, step, first: first, count: count, bytes: bytes, offset: offset,
            received: { _, _ in () })
    }

    /// Reads rows, as many at once as there is room for.
    ///
    /// - Parameters:
    ///   - sends: whether the process gets the memory's present bytes first.
    /// - Returns: the state after the first result that is not good, or after the last row.
    func read(
        _ function: darkroom_remote_function, _ count: Int, _ bytesPerRow: Int, sends: Bool,
        to start: UnsafeMutablePointer<UInt8>
    ) throws(PictureError) -> darkroom_remote_state {
        let most = data.count / bytesPerRow
        guard most > 0 else {
            throw PictureError(
                .tooManyPixels,
                "\(name): a row of \(bytesPerRow) bytes does not fit into the"
                    + " memory that is shared with a codec process")
        }
        var done = 0
        while true {
            let some = min(most, count - done)
            let memory = UnsafeMutableRawBufferPointer(
                start: start + done * bytesPerRow, count: some * bytesPerRow)
            let state = try ask(
                function, "reading rows", count: some, bytes: bytesPerRow,
                sent: UnsafeRawBufferPointer(rebasing: memory.prefix(sends ? memory.count : 0))
            ) { state, data in
                memory.copyMemory(from: UnsafeRawBufferPointer(rebasing: data.prefix(memory.count)))
                return state
            }
            lastCount = done + (state.result == 0 ? some : Int(state.last_count))
            done += some
            if state.result != 0 || done == count { return state }
        }
    }

    /// A piece of metadata.
    func fact(
        _ function: darkroom_remote_function, _ which: Int, bytes count: Int
    ) throws(PictureError) -> [UInt8]? {
        guard count > 0 else { return nil }
        var bytes: [UInt8] = []
        while bytes.count < count {
            let some = min(data.count, count - bytes.count)
            bytes += try ask(
                function, "reading the header", first: which, count: some, offset: bytes.count
            ) { state, data in
                Int(state.value) == some ? Array(data.prefix(some)) : nil
            }
        }
        return bytes
    }

    /// Permits the process the memory for the picture's rows.
    func permit(memory bytes: Int) {
        lock.withLock { _ in call.permit(memory: bytes + CodecCall.Bounds.spare) }
    }

    // MARK: The state

    private func told<Value>(_ value: (darkroom_remote_state) -> Value) -> Value {
        lock.withLock { _ in value(state) }
    }

    var current: darkroom_remote_state { told { $0 } }
    var systemError: CInt { current.system_error }
    var message: String {
        told { state in
            withUnsafePointer(to: state) {
                String(ofHostile: darkroom_remote_message($0), most: Int(DARKROOM_REMOTE_TEXT))
            }
        }
    }
    var warnings: [String] {
        told { state in
            withUnsafePointer(to: state) { start in
                (0..<min(state.warning_count, UInt32(DARKROOM_REMOTE_WARNINGS))).map {
                    String(
                        ofHostile: darkroom_remote_warning(start, $0),
                        most: Int(DARKROOM_REMOTE_TEXT))
                }
            }
        }
    }
    var names: [String] {
        told { state in
            withUnsafePointer(to: state) { start in
                (0..<min(state.name_count, UInt32(DARKROOM_REMOTE_NAMES))).map {
                    String(
                        ofHostile: darkroom_remote_name(start, $0), most: Int(DARKROOM_REMOTE_NAME))
                }
            }
        }
    }
}

extension darkroom_remote_state {
    /// The function's result; another one, if it is none of those before `end`. That would stop this process.
    func result<Code: RawRepresentable<UInt32>>(before end: Code, otherwise: Code) -> Code {
        let number = UInt32(truncatingIfNeeded: result)
        return number < end.rawValue ? Code(rawValue: number) ?? otherwise : otherwise
    }
}
