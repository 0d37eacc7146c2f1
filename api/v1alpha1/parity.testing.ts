// Compares local validation with a real API server: same verdict, same field paths. For tests and developer scripts
// only.
import { validateObject } from '../validate/validate.ts'
import type { ApiServer, Verdict } from './apiserver.testing.ts'
import type { CrdKind } from './crd-schema.testing.ts'
import { limitCases } from './limit-cases.testing.ts'
import type { Fixture } from './testdata.testing.ts'

/** A few requests at a time: the server is small. */
const PARALLEL = 8

export interface Comparison {
  readonly count: number
  /** One text for each case on which the two disagree. */
  readonly differences: readonly string[]
}

/** Every fixture of the kind and every limit case made from them. */
export async function compareKind(
  server: ApiServer,
  { kind, fixtures, scope }: { kind: CrdKind; fixtures: readonly Fixture[]; scope: 'distinct' | 'every' },
): Promise<Comparison> {
  const limits = limitCases(kind, fixtures, scope).map((limit) => ({ ...limit, oldObject: undefined }))
  const cases: Case[] = [...fixtures, ...limits]
  const differences: string[] = []
  const queue = cases.values()
  const worker = async (): Promise<void> => {
    for (const each of queue) differences.push(...(await compare(server, kind, each)))
  }
  await Promise.all(Array.from({ length: PARALLEL }, worker))
  return { count: cases.length, differences }
}

interface Case {
  readonly title: string
  readonly object: unknown
  readonly oldObject: unknown
}

async function compare(server: ApiServer, kind: CrdKind, { title, object, oldObject }: Case): Promise<string[]> {
  const isUpdate = oldObject !== undefined
  const { problems } = validateObject(object, isUpdate ? { oldObject } : {})
  const verdict = isUpdate ? await server.update(kind, { oldObject, object }) : await server.create(kind, object)
  const unknown = unknownFields(verdict)
  // The server stops at unknown fields; local validation reports the rest as well.
  const relevant = unknown.length === 0 ? problems : problems.filter(({ reason }) => reason === 'FieldUnknown')
  const here = sorted(
    withoutAlternatives(
      relevant.map(({ path }) => path),
      verdict,
    ),
  )
  const there = sorted(unknown.length === 0 ? withoutAlternatives(causePaths(verdict), verdict) : unknown)
  const isSame = verdict.accepted === (problems.length === 0) && JSON.stringify(here) === JSON.stringify(there)
  if (isSame) return []
  return [
    `${title}: local [${here.join(', ')}], server [${there.join(', ')}]: ${verdict.status} ${verdict.message.slice(0, 500)}`,
  ]
}

function unknownFields({ message }: Verdict): string[] {
  return [...message.matchAll(/unknown field "([^"]+)"/g)].map(([, path = '']) => path)
}

function causePaths({ causes }: Verdict): string[] {
  const reported = causes.filter(({ message }) => !message.includes('some validation rules were not checked'))
  return reported.map(({ field, message }) => alternativePath(message) ?? field)
}

/** Of oneOf and anyOf only the verdict counts: the server adds why one of the alternatives failed. */
function withoutAlternatives(paths: readonly string[], { causes }: Verdict): string[] {
  const alternatives = causes.map(({ message }) => alternativePath(message)).filter((path) => path !== undefined)
  return paths.filter(
    (path) => !alternatives.some((other) => path.startsWith(`${other}.`) || path.startsWith(`${other}[`)),
  )
}

/** The server names no field for these verdicts; the path is in the text. */
function alternativePath(message: string): string | undefined {
  return /"([^"]+)" must (?:not )?validate/.exec(message)?.[1]
}

function sorted(paths: readonly string[]): string[] {
  return [...new Set(paths)].sort()
}
