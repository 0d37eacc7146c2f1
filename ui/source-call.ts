// The files that configure the process, for the page Configuration.
import type { components } from '#api/admin/types.gen.ts'
import { ask } from './api.ts'

type Schemas = components['schemas']
export type SourceText = Schemas['SourceText']
export type SourceEdit = Schemas['SourceEdit']
export type SourceProblem = Schemas['SourceProblem']

/** `problems` alone: the file has errors, and was not replaced. */
export type Saved = Schemas['SourceSaved'] | Schemas['SourceProblems']

const UNPROCESSABLE = 422

/** @throws {ApiError} */
export async function readSource(signal: AbortSignal): Promise<readonly SourceText[]> {
  const answer = await ask('source', { signal })
  return ((await answer.json()) as Schemas['SourceFiles']).files // api/admin/openapi.yaml
}

/** @throws {ApiError} The file has changed, among others. */
export async function checkSource(edit: SourceEdit, signal: AbortSignal): Promise<readonly SourceProblem[]> {
  const answer = await ask('source/check', { signal, body: edit })
  return ((await answer.json()) as Schemas['SourceProblems']).problems // api/admin/openapi.yaml
}

/** @throws {ApiError} The file has changed, among others. */
export async function saveSource(edit: SourceEdit, signal: AbortSignal): Promise<Saved> {
  const answer = await ask('source/save', { signal, body: edit, also: UNPROCESSABLE })
  return (await answer.json()) as Saved // api/admin/openapi.yaml
}
