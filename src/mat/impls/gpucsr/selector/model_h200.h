static const GpSelNode  GpSelNodes_h200[]                  = {{-1, 0, 0, 0}};
static const short      GpSelLeaves_h200[][GP_SEL_LEADING] = {{GP_SPMV_csrvector4, -1, -1, -1}};
static const GpSelModel GpSelModel_h200                    = {"NVIDIA H200", 132, 60e6, "to be trained", GpSelNodes_h200, GpSelLeaves_h200};
