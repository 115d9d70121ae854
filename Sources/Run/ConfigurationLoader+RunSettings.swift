import DarkroomConfiguration
import DarkroomFetch
import DarkroomManifest
import DarkroomSpool
import DarkroomWork

extension ConfigurationLoader.Loaded {
    /// The settings of a run: those of the daemon, except where a person at a terminal expects something else.
    ///
    /// - Parameter base: the folder at which relative sources begin.
    package func runSettings(base: String) -> BatchSettings {
        var settings = configuration.batchSettings
        settings.isDurable = isDurableRun
        settings.delivery = .ofRun
        settings.examination.limits.delivery = .ofRun
        if !isSet("sources.roots") {
            settings.localSources = LocalSources(
                relativeTo: base, maximumBytes: Int64(configuration.downloads.maxBytes))
            settings.localSources.ignored = configuration.ignoredNames
        }
        return settings
    }

    /// Whether a run survives a power cut. A daemon syncs everything, because it has taken the manifest away from its
    /// submitter. The user of a run still has it, and can begin again. So nothing is synced unless somebody asks for it:
    /// on a disk, eight syncs would take longer than a small picture.
    private var isDurableRun: Bool { isSet("durability") && configuration.isDurable }

    /// The job with those settings that decide what its outputs are, for its plan.
    func noted(in job: RunJob) -> RunJob {
        var job = job
        let settings = runSettings(base: job.base)
        job.localSources = settings.localSources
        job.settings = settings
        job.remote = RemoteLook(self)
        job.roots = setRoots
        job.defaultFilters = defaultFilters
        job.defaultProfile = configuration.manifestLimits.profile
        return job
    }

    /// Why the outputs of a run with this plan cannot be made anew with these settings; nil if they can be.
    func conflict(with plan: RunPlan, in folder: String) -> RunError? {
        plan.conflict(ofFilters: defaultFilters, in: folder)
            ?? plan.conflict(ofProfile: configuration.manifestLimits.profile, in: folder)
            ?? (plan.base == nil ? nil : plan.conflict(ofRoots: setRoots, in: folder))
    }

    /// `sources.roots`; nil if nobody has set it.
    private var setRoots: [String]? { isSet(RunPlan.rootsKey) ? configuration.sourceRoots : nil }

    private var defaultFilters: String? {
        settings.first { $0.setting.key == RunPlan.filtersKey }?.text
    }

    private func isSet(_ key: String) -> Bool {
        settings.contains { $0.setting.key == key && $0.place != nil }
    }
}
