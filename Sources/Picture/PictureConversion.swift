package import SystemPackage

/// What is to be made of one picture: the steps from its pixels to those of the result, and the file of the result.
package struct PictureConversion {
    /// The name of the source in messages, without its query and credentials.
    package var name: String
    package var steps: PictureSteps
    package var result: PictureResult

    package init(_ name: String, _ steps: PictureSteps, to result: PictureResult) {
        self.name = name
        self.steps = steps
        self.result = result
    }
}

/// The file for a picture.
package struct PictureResult {
    /// Written from the current offset on. It is neither synced nor closed. After an error, its content is not a picture.
    let file: FileDescriptor
    /// The name of the file in messages.
    let name: String
    /// The file for the filtered pixels, for other images.
    package var handOver: HandOverFile?
    /// Receives a small copy.
    package var preview: PicturePreview?

    package init(
        _ file: FileDescriptor, name: String, handOver: HandOverFile? = nil,
        preview: PicturePreview? = nil
    ) {
        self.file = file
        self.name = name
        self.handOver = handOver
        self.preview = preview
    }
}

extension PictureConversion {
    /// What has been written.
    struct Written {
        let filtered: PictureSteps.Filtered
        /// What the writer got: the contents of the file in addition to pixels.
        var input: PictureEncoder.Input
        var picture: WrittenPicture
        /// What is dropped because of the format.
        let remarks: [String]
    }

    /// Pulls all rows through the filters into the file.
    func write(
        _ filtered: PictureSteps.Filtered, of reader: any PictureReader, _ context: StageContext,
        _ ahead: ReadAhead?
    ) throws(PictureError) -> Written {
        if let refusal = steps.options.refusal { throw refusal }
        let (encoder, preview) = (steps.options.format.encoder, result.preview)
        var input = PictureEncoder.Input(
            try preview?.stage(on: filtered.stage, filtered.palette) ?? filtered.stage,
            to: result.file, name: result.name)
        input.options = steps.options
        input.colour = reader.colour.carried(through: filtered.effective, to: filtered.layout)
        var remarks = steps.options.remark(on: reader.format).map { [$0] } ?? []
        if reader.format != encoder.kind, let judge = encoder.judge,
            let verdict = try input.colour.profile.map(judge)
        {
            if !verdict.isAccepted { input.colour.profile = nil }
            if let remark = verdict.remark { remarks.append(remark) }
        }
        if steps.options.keepsExif, encoder.keepsExif {
            let isUpright = steps.autoOrient || !encoder.heedsExif
            input.exif = Exif.carried(reader.exif, isUpright: isUpright)
        }
        if let preview {
            preview.colour = input.colour
            // The file of the result keeps the orientation of its source.
            if input.exif != nil, !steps.autoOrient, encoder.heedsExif {
                preview.orientation = reader.orientation
            }
        }
        input.palette = filtered.palette
        input.memory = context.memory
        input.limits = steps.limits
        input.cores = steps.cores
        input.ahead = ahead
        input.checkpoint = steps.checkpoint
        let copied = try result.handOver.map { handOver throws(PictureError) in
            try HandOverStage(input.stage, to: handOver, like: input)
        }
        defer { copied?.close() }
        if let copied { input.stage = copied }
        return Written(
            filtered: filtered, input: input, picture: try encoder.write(input), remarks: remarks)
    }

    /// - Parameter remarks: the remarks of the filters.
    func report(
        _ written: Written, of reader: any PictureReader, remarks: [String]
    ) -> PictureReport {
        let (filtered, exif) = (written.filtered, written.input.exif)
        let (layout, options, format) = (filtered.layout, steps.options, steps.options.format)
        var metadata = MetadataLedger.entries(
            of: reader.metadata, to: format, original: reader.colour, sent: written.input.colour,
            written: written.picture.items,
            exif: exif == nil ? "dropped" : exif == reader.exif ? "kept" : "converted")
        if reader.orientation != .topLeft {
            metadata["orientation"] =
                steps.autoOrient
                ? "converted" : exif == nil || !format.encoder.heedsExif ? "dropped" : "kept"
        }
        if filtered.palette != nil {
            for chunk in ["PLTE", "tRNS"] where metadata[chunk] == "converted" {
                metadata[chunk] = "kept"
            }
        }
        if layout.hasAlpha, !format.hasAlpha { metadata["alpha"] = "converted" }
        if layout.depth > options.depth(of: layout) { metadata["depth"] = "converted" }
        return PictureReport(
            options: options, layout: layout, bytes: written.picture.bytes,
            sha256: written.picture.sha256,
            warnings: reader.warnings + written.remarks + written.picture.remarks + remarks,
            metadata: metadata)
    }

    /// The same error with the source's name at the beginning, unless it already names a file of this job.
    func named(_ error: PictureError) -> PictureError {
        error.naming(name, or: [result.name, result.handOver?.name].compactMap { $0 })
    }
}
