/* Makes a profile for inks, as those of printers are: a table between curves, from CMYK to L*a*b*. */
#ifndef INKS_H
#define INKS_H

#include <lcms2.h>
#include <stdlib.h>

/* `steps`: for each ink; `inks`: what colour they are, called for each place of the table. */
static inline cmsHPROFILE ink_profile(cmsUInt32Number steps, cmsSAMPLER16 inks)
{
    cmsHPROFILE profile = cmsCreateProfilePlaceholder(NULL);
    cmsSetProfileVersion(profile, 4.2);
    cmsSetDeviceClass(profile, cmsSigOutputClass);
    cmsSetColorSpace(profile, cmsSigCmykData);
    cmsSetPCS(profile, cmsSigLabData);
    cmsPipeline *pipeline = cmsPipelineAlloc(NULL, 4, 3);
    cmsStage *table = cmsStageAllocCLut16bit(NULL, steps, 4, 3, NULL);
    cmsStageSampleCLut16bit(table, inks, (void *) cmsD50_XYZ(), 0);
    cmsPipelineInsertStage(pipeline, cmsAT_END, cmsStageAllocToneCurves(NULL, 4, NULL));
    cmsPipelineInsertStage(pipeline, cmsAT_END, table);
    cmsPipelineInsertStage(pipeline, cmsAT_END, cmsStageAllocToneCurves(NULL, 3, NULL));
    if (!cmsWriteTag(profile, cmsSigAToB1Tag, pipeline) || !cmsWriteTag(profile, cmsSigAToB0Tag, pipeline)) abort();
    cmsPipelineFree(pipeline);
    return profile;
}

#endif
