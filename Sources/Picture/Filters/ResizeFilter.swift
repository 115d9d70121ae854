/// Combines the stages of a resize: resampling, cutting and padding.
enum ResizeFilter {
    /// - Throws: `tooManyPixels` if the result would exceed `limits`.
    static func make(
        _ resize: Filter.Resize, _ upstream: any Stage, _ context: StageContext
    ) throws(PictureError) -> any Stage {
        let input = upstream.layout
        let plan = ResizePlan(resize, width: input.width, height: input.height)
        try context.limits.check(
            width: plan.canvas.width, height: plan.canvas.height, place: "resize")
        if let remark = changedMeaning(resize, plan, input) { context.remarks.append(remark) }
        var stage = upstream
        if plan.scaled == ResizePlan.Size(width: input.width, height: input.height) {
            let window = plan.window
            stage = try CropStage.make(
                x: window.x, y: window.y, width: window.width, height: window.height, stage)
        } else if resize.kernel == .nearest {
            stage = try nearest(plan, stage)
        } else {
            stage = try ResampleStage.make(plan, resize, stage, context.memory)
        }
        if plan.canvas.width == plan.window.width, plan.canvas.height == plan.window.height {
            return stage
        }
        return try PadFilter.stage(to: plan.canvas, at: plan.margin, with: resize.background, stage)
    }

    /// The remark on a filter whose meaning has changed, if another version would have made another picture.
    private static func changedMeaning(
        _ resize: Filter.Resize, _ plan: ResizePlan, _ input: PixelLayout
    ) -> String? {
        guard let formerFit = resize.formerFit else { return nil }
        var former = resize
        former.fit = formerFit
        former.withoutEnlargement = false
        let canvas = ResizePlan(former, width: input.width, height: input.height).canvas
        guard canvas != plan.canvas else { return nil }
        return "thumbnail without ‘fit’: the whole picture is kept, with \(plan.canvas.width) × "
            + "\(plan.canvas.height) pixels; older versions cut it to \(canvas.width) × \(canvas.height). "
            + Filter.Resize.fitAdvice
    }
}
