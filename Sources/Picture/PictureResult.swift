import SystemPackage

/// The file for a picture, and the options for writing it.
struct PictureResult {
    /// Written from the current offset on. It is neither synced nor closed.
    let file: FileDescriptor
    /// The name of the file in messages.
    let name: String
    let options: OutputOptions
    var handOver: HandOverFile?
    /// Receives a small copy.
    var preview: PicturePreview?

    /// What has been written, and the contents of its file in addition to pixels.
    struct Written {
        let picture: WrittenPicture
        let colour: PNGColour
        let exif: [UInt8]?
        /// What is dropped because of the format.
        let remarks: [String]
    }

    /// Pulls all rows through the filters into the file.
    func write(
        _ filtered: PictureSteps.Filtered, of reader: any PictureReader, _ steps: PictureSteps,
        _ context: StageContext, _ ahead: ReadAhead?
    ) throws(PictureError) -> Written {
        let last = try preview?.stage(on: filtered.stage, filtered.palette) ?? filtered.stage
        var colour = reader.colour.carried(through: filtered.effective, to: filtered.layout)
        var remarks: [String] = []
        if options.format == .png, reader.format != .png, let profile = colour.profile {
            let verdict = try profile.judged(isGray: profile.isGray)
            if !verdict.isAccepted { colour.profile = nil }
            if let remark = verdict.remark { remarks.append(remark) }
        }
        let exif =
            options.keepsExif ? Exif.carried(reader.exif, isUpright: steps.autoOrient) : nil
        if let preview {
            preview.colour = colour
            // The file of the result keeps the orientation of its source.
            if exif != nil, !steps.autoOrient { preview.orientation = reader.orientation }
        }
        let copied = try handOver.map { handOver throws(PictureError) in
            try HandOverStage(
                last, to: handOver, colour: colour, exif: exif, cores: steps.cores, ahead: ahead)
        }
        defer { copied?.close() }
        let picture = try PictureEncoder.encoder(of: options.format).write(
            PictureEncoder.Output(
                stage: copied ?? last, file: file, name: name, colour: colour, exif: exif,
                options: options, palette: filtered.palette, memory: context.memory,
                cores: steps.cores, ahead: ahead, checkpoint: steps.checkpoint))
        return Written(picture: picture, colour: colour, exif: exif, remarks: remarks)
    }

    /// - Parameters:
    ///   - wasTurned: whether the picture was turned upright.
    ///   - remarks: the remarks of the filters.
    func report(
        _ written: Written, _ filtered: PictureSteps.Filtered, of reader: any PictureReader,
        wasTurned: Bool, remarks: [String]
    ) -> PictureReport {
        let layout = filtered.layout
        let (exif, format) = (written.exif, options.format)
        var metadata = MetadataLedger.entries(
            of: reader.metadata, to: format, original: reader.colour, sent: written.colour,
            written: written.picture.items,
            exif: exif == nil ? "dropped" : exif == reader.exif ? "kept" : "converted")
        if reader.orientation != .topLeft {
            metadata["orientation"] = wasTurned ? "converted" : exif == nil ? "dropped" : "kept"
        }
        if filtered.palette != nil {
            for chunk in ["PLTE", "tRNS"] where metadata[chunk] == "converted" {
                metadata[chunk] = "kept"
            }
        }
        if layout.hasAlpha, !format.hasAlpha { metadata["alpha"] = "converted" }
        if layout.depth > format.mostDepth { metadata["depth"] = "converted" }
        return PictureReport(
            format: format, layout: layout, bytes: written.picture.bytes,
            sha256: written.picture.sha256, warnings: reader.warnings + written.remarks + remarks,
            metadata: metadata)
    }
}
