"""Arguments of the C functions that the package calls; a test compares them with the headers of gpucsr.

One letter stands for one argument: p object or other pointer, i PetscInt, l PetscInt64, d PetscReal, e enumeration or PetscBool, s string,
o address of a result or context, f function.
"""

SIGNATURES = """
PetscGPUCSRInitialize
PetscGPUCSRGetDeviceName o
PetscGPUCSRSetNotice e
MatGPUCSRSetStorage pe
KMeansCreate po
KMeansSetPoints pp
KMeansSetWeights pp
KMeansSetClusters pi
KMeansSetMetric pe
KMeansSetStart pe
KMeansSetStartCentroids pp
KMeansSetStorage pe
KMeansSetSeed pl
KMeansSetRestarts pi
KMeansSetTolerances pddi
KMeansMonitorSet pfof
KMeansSolve p
KMeansPredict ppo
KMeansGetCentroids po
KMeansGetLabels po
KMeansGetInertia po
KMeansGetIterationNumber po
KMeansGetConvergedReason po
KMeansDestroy o
PageRankCreate po
PageRankSetGraph pp
PageRankSetDamping pd
PageRankSetDangling pep
PageRankSetPersonalizations pip
PageRankSetMethod ps
PageRankSetTolerances pdi
PageRankMonitorSet pfof
PageRankSolve p
PageRankGetRanks poo
PageRankGetResidual poo
PageRankGetConvergedReason po
PageRankGetIterationNumber po
PageRankDestroy o
NetworkCreate po
NetworkSetGraph pp
NetworkSetMeasure ps
NetworkSetScale pe
NetworkSetTolerances pdi
NetworkSetAlpha pd
NetworkSetDamping pd
NetworkMonitorSet pfof
NetworkSolve p
NetworkGetResults pooo
NetworkGetResultType po
NetworkGetQuantities pooo
NetworkGetGroups pooo
NetworkGetResidual poo
NetworkGetConvergedReason po
NetworkGetIterationNumber po
NetworkDestroy o
BMRMCreate po
BMRMSetData ppp
BMRMSetQueries pp
BMRMSetExampleWeights pp
BMRMSetClasses pi
BMRMSetLossType ps
BMRMSetLossParameter psd
BMRMSetRegularizerType ps
BMRMSetElasticNetRatio pd
BMRMSetWeights pp
BMRMSetLambda pd
BMRMSetTolerances pddi
BMRMMonitorSet pfof
BMRMSolve p
BMRMSolveMany ip
BMRMGetSolution po
BMRMGetObjective poo
BMRMGetIterationNumber po
BMRMGetConvergedReason po
BMRMDestroy o
SMACOFCreate po
SMACOFSetFeatures ppe
SMACOFSetDissimilarities ppp
SMACOFSetDimension pi
SMACOFSetDisparity pe
SMACOFSetStorage pe
SMACOFSetStart pe
SMACOFSetStarts piii
SMACOFSetStartConfiguration pp
SMACOFSetTolerances pdi
SMACOFMonitorSet pfof
SMACOFSolve p
SMACOFGetConfiguration po
SMACOFGetStress poo
SMACOFGetIterationNumber po
SMACOFGetConvergedReason po
SMACOFDestroy o
"""

# Functions of PETSc, which the library's own PETSc provides.
PETSC = """
PetscInitialized o
PetscOptionsUsed pso
PetscObjectGetComm po
VecGetLocalSize po
VecGetArrayRead po
VecRestoreArrayRead po
ISGetLocalSize po
ISGetIndices po
ISRestoreIndices po
ISDestroy o
MatGetSize poo
MatDenseGetArrayRead po
MatDenseRestoreArrayRead po
MatDestroy o
"""
