import CDarkroomCodecWire

extension CodecCall {
    /// Begins to encode a picture.
    ///
    /// - Parameters:
    ///   - memory: what the child may use beyond what it had at its start.
    ///   - rowBytes: a slot has at least one row.
    convenience init(
        encoding input: PictureEncoder.Input, memory: Int, rowBytes: Int, by program: CodecProgram
    ) throws(PictureError) {
        var order = darkroom_codec_message(DARKROOM_CODEC_ENCODE)
        order.fill(Bounds(limits: input.limits))
        order.slot_bytes = UInt32(clamping: Bounds.slotBytes(row: rowBytes))
        order.limits.memory_at_first = UInt64(memory + Bounds.spare)
        order.limits.memory_at_most = order.limits.memory_at_first
        try self.init(order, [], input.name, input.limits, input.checkpoint, program)
    }
}
