export type { Group, Need } from "./cases/definition.ts";
export { distinctIds } from "./cases/id-kinds.ts";
export { allCases, contractCases, type LeftOutCase, leftOutCases } from "./contract.ts";
export { describeStoreContract, type RegisteredContract, type TestRunner } from "./describe.ts";
export { type Manifest, ManifestError } from "./manifest.ts";
export type { ContractCase } from "./run-case.ts";
export { type ManifestOptions, manifestCases, runManifest, type Wrapper } from "./run-manifest.ts";
export { type Operation, type RunOperationsOptions, runOperations } from "./run-operations.ts";
export type { Capability, CaseContext, Subject, TransactionHooks } from "./subject.ts";
