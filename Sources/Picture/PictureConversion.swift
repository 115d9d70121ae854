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
        let metadata: ResultMetadata
        /// What the source has, if any of it may be kept.
        let packets: SourcePackets?
        /// What is dropped because of the format.
        let remarks: [String]
        /// Whether the format has no such profile, which a remark says.
        let hasRefusedProfile: Bool
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
        var hasRefusedProfile = false
        if reader.format != encoder.kind, let judge = encoder.judge,
            let verdict = try input.colour.profile.map(judge)
        {
            if !verdict.isAccepted { (input.colour.profile, hasRefusedProfile) = (nil, true) }
            if let remark = verdict.remark { remarks.append(remark) }
        }
        let (metadata, packets) = try metadata(of: reader, filtered, input.colour)
        (input.exif, input.xmp, input.iptc) = (metadata.exif, metadata.xmp, metadata.iptc)
        remarks += metadata.remarks
        if let preview {
            preview.colour = input.colour
            // The file of the result keeps the orientation of its source.
            if metadata.keepsOrientation, !steps.autoOrient, encoder.usesExifOrientation {
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
            filtered: filtered, input: input, picture: try encoder.write(input),
            metadata: metadata, packets: packets, remarks: remarks,
            hasRefusedProfile: hasRefusedProfile)
    }

    /// What the result keeps of the source's metadata, and all that the source has if it was asked for.
    private func metadata(
        of reader: any PictureReader, _ filtered: PictureSteps.Filtered, _ colour: PictureColour
    ) throws(PictureError) -> (ResultMetadata, SourcePackets?) {
        let encoder = steps.options.format.encoder
        var choice = steps.options.metadata
        let isUpright = steps.autoOrient || !encoder.usesExifOrientation
        if choice.copiesExif {
            // Of Exif that cannot be examined, nobody knows what it shows.
            let block = reader.exif.flatMap(ExifBlock.init)
            let isClean = reader.exif == nil || block?.hasThumbnail == false
            if encoder.keepsExif, steps.options.profile == .keep, isClean {
                let copy = Exif.carried(reader.exif, isUpright: isUpright)
                return (ResultMetadata(copyOf: copy, block), SourcePackets(exif: reader.exif))
            }
            // A copy would say what is not true of the result.
            choice = MetadataChoice([.exif])
        }
        guard !choice.items.isEmpty else { return (ResultMetadata(), nil) }
        let packets = try reader.packets()
        let facts = ResultMetadata.Facts(
            width: filtered.layout.width, height: filtered.layout.height,
            orientation: isUpright ? .topLeft : reader.orientation,
            isScaled: filtered.effective.contains {
                if case .resize = $0 { true } else { false }
            }, colour: colour, kind: encoder.kind, packets: encoder.packets)
        return (ResultMetadata(packets, choice, for: facts), packets)
    }

    /// - Parameter contexts: those of the filters.
    func report(
        _ written: Written, of reader: any PictureReader, _ contexts: [StageContext]
    ) -> PictureReport {
        let (filtered, kept) = (written.filtered, written.metadata)
        let (layout, options, format) = (filtered.layout, steps.options, steps.options.format)
        var metadata = MetadataLedger.entries(
            of: reader.metadata, to: format, original: reader.colour, sent: written.input.colour,
            written: written.picture.items, isConverted: options.profile != .keep,
            fate: { kept.fate(of: $0, written.packets) }
        ).merging(kept.fates) { $1 }
        if reader.orientation != .topLeft {
            metadata["orientation"] =
                steps.autoOrient
                ? "converted"
                : kept.keepsOrientation && format.encoder.usesExifOrientation ? "kept" : "dropped"
        }
        if filtered.palette != nil {
            for chunk in ["PLTE", "tRNS"] where metadata[chunk] == "converted" {
                metadata[chunk] = "kept"
            }
        }
        if layout.hasAlpha, !format.hasAlpha { metadata["alpha"] = "converted" }
        let silence = undeclared(written, of: reader).map { [$0] } ?? []
        if layout.depth > options.depth(of: layout) { metadata["depth"] = "converted" }
        let libraries = CodecLibraries.known(
            reader.programs + contexts.flatMap(\.programs), writing: format)
        var report = PictureReport(
            // The format may lack the alpha and the depth of the rows, or gray.
            format: format, width: layout.width, height: layout.height,
            channels: format.encoder.channels(layout), depth: options.depth(of: layout),
            bytes: written.picture.bytes, sha256: written.picture.sha256,
            chosen: written.picture.chosen,
            warnings: reader.warnings + written.remarks + silence + written.picture.remarks
                + contexts.flatMap(\.remarks),
            metadata: metadata, libraries: libraries)
        report.identities = libraries.map { CodecLibraries.knownIdentities($0.keys) }
        return report
    }

    /// What to say if the values of the source are kept, and the result does not say what colours they mean.
    private func undeclared(_ written: Written, of reader: any PictureReader) -> String? {
        let source = StatedColour(reader)
        guard steps.options.profile == .keep, source.colour.saysSpace, !written.hasRefusedProfile
        else { return nil }
        var said = written.input.colour.only(written.picture.items)
        said.noteColourSpace(ofExif: written.metadata.exif)
        let hasSameProfile = said.profile != nil && said.profile == source.colour.profile
        if hasSameProfile, source.colour.codePoints == nil { return nil }
        let result = StatedColour(colour: said, isGray: written.filtered.layout.isGray)
        if source.space.space.isNearly(result.space.space) { return nil }
        return "the result does not say the colour space of its values, as the source does; with"
            + " output.profile: srgb they are converted"
    }

    /// The same error with the source's name at the beginning, unless it already names a file of this job.
    func named(_ error: PictureError) -> PictureError {
        error.naming(name, or: [result.name, result.handOver?.name].compactMap { $0 })
    }
}
