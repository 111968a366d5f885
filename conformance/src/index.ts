export type { Group, Need } from "./cases/definition.ts";
export { allCases, type ContractCase, contractCases, leftOutCases } from "./contract.ts";
export { describeStoreContract, type RegisteredContract, type TestRunner } from "./describe.ts";
export type { Capability, CaseContext, Subject, TransactionHooks } from "./subject.ts";
