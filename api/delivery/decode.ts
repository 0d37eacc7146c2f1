// Decodes the files of a delivery into a configuration: all of it, or a reason. Checks hashes, form and schema first.
// Keeps decoded parts: most deliveries change a small part.
import { emptyConfig } from '../ir/empty.ts'
import { keepItems } from '../ir/keep-items.ts'
import { LIST_NAMES, type ListName } from '../ir/lists.ts'
import type { RenderedConfig, RenderedSecrets } from '../ir/types.gen.ts'
import { validateConfig } from '../ir/validate.ts'
import type { Problem } from '../problem.ts'
import { decodeDocument, type DocumentFault, type DocumentRef, hashOf, shardOfFile } from './document.ts'
import type { DeliveryFault, MissingFile, ReadFile } from './fault.ts'
import {
  type ChunkRef,
  chunkIdOf,
  type DeliveryIndex,
  type EndpointIndex,
  endpointIndexFile,
  INDEX_FILE,
  readDeliveryIndex,
  readEndpointIndex,
} from './index-file.ts'
import { ListReader } from './list-reader.ts'
import { SecretReader, type SecretsOutcome } from './secret-reader.ts'

export interface Delivered {
  readonly index: DeliveryIndex
  /** Hash over everything that is in force with this; equal revisions are equal configurations. */
  readonly revision: string
  /** Unchanged parts are the same objects as before. */
  readonly config: RenderedConfig
  readonly secrets: RenderedSecrets
}

export type DecodeOutcome = { readonly delivered: Delivered } | { readonly fault: DeliveryFault }

type Fault = { readonly fault: DeliveryFault }
type Workloads = RenderedConfig['workloads']

/** One for each source of deliveries: it keeps what it has decoded. */
export class DeliveryDecoder {
  #config: Known<RenderedConfig> | undefined = undefined
  readonly #secrets = new SecretReader()
  #endpoints: Known<Workloads> | undefined = undefined
  readonly #lists = new Map(LIST_NAMES.map((name) => [name, new ListReader(name)]))
  #last: RenderedConfig = emptyConfig()

  decode(file: ReadFile): DecodeOutcome {
    const bytes = file(INDEX_FILE)
    if (bytes === undefined) {
      const missing = [{ names: [INDEX_FILE], part: 'config' as const, shard: 0 }]
      return fault({ reason: 'Incomplete', message: 'the index is missing', missing })
    }
    const read = readDeliveryIndex(bytes)
    if ('fault' in read) return fault({ reason: 'Unsupported', message: read.fault, missing: [] })
    const { index } = read
    const secrets = this.#secrets.read(index.secrets, file)
    if (!('value' in secrets)) return fault(secretsFault(index.secrets, secrets))
    const config = this.#configOf(index, file)
    if ('fault' in config) return config
    this.#last = config.value
    const revisions = [config.revision, index.secrets.sha256, config.endpoints]
    return {
      delivered: {
        index,
        revision: revisions.map((hash) => hash.slice(0, 12)).join('.'),
        config: config.value,
        secrets: secrets.value,
      },
    }
  }

  #configOf(index: DeliveryIndex, file: ReadFile): Read | Fault {
    const endpointIndex = endpointIndexOf(index, file)
    if ('fault' in endpointIndex) return endpointIndex
    const endpoints = endpointIndex.index
    if (index.format === 2 && endpoints.format === 2) return this.#fromChunks({ index, endpoints }, file)
    if (index.format === 1 && endpoints.format === 1) return this.#fromDocuments({ index, endpoints }, file)
    return fault({ reason: 'Unsupported', message: 'the indexes have different formats', missing: [] })
  }

  #fromDocuments({ index, endpoints }: Indexes<1>, file: ReadFile): Read | Fault {
    const config = documentOf(this.#config, index.config, file, configOf)
    if ('fault' in config) return config
    this.#config = config
    const workloads = documentOf(this.#endpoints, endpoints.endpoints, file, workloadsOf)
    if ('fault' in workloads) return workloads
    this.#endpoints = workloads
    const value = keepItems(this.#last, { ...config.value, workloads: workloads.value })
    for (const [name, reader] of this.#lists) reader.setItems(value[name])
    return { value, revision: config.sha256, endpoints: workloads.sha256 }
  }

  #fromChunks({ index, endpoints }: Indexes<2>, file: ReadFile): Read | Fault {
    const refsOf = (name: ListName): readonly ChunkRef[] =>
      name === 'workloads' ? endpoints.workloads : (index.lists[name] ?? [])
    const readers = [...this.#lists]
    // Nothing is unpacked while something is missing.
    const missing = readers.flatMap(([name, reader]) => reader.missing(refsOf(name), file))
    if (missing.length > 0) return fault(incomplete(missing))
    const lists: [ListName, readonly object[]][] = []
    for (const [name, reader] of readers) {
      const read = reader.read(refsOf(name), file)
      if ('fault' in read) return read
      lists.push([name, read.items])
    }
    const [problem] = validateConfig({ ...emptyConfig(), version: index.version })
    if (problem !== undefined) return fault({ reason: 'Invalid', message: `index: ${problem.message}`, missing: [] })
    // Validated: the version just now, every list by its reader.
    const value = { version: index.version, ...Object.fromEntries(lists) } as unknown as RenderedConfig
    const idsOf = (refs: readonly ChunkRef[]): string => refs.map(chunkIdOf).join()
    const routing = LIST_NAMES.map((name) => (name === 'workloads' ? '' : idsOf(refsOf(name)))).join('/')
    this.#config = undefined
    this.#endpoints = undefined
    return { value, revision: hashOf(routing), endpoints: hashOf(idsOf(endpoints.workloads)) }
  }
}

interface Read {
  readonly value: RenderedConfig
  /** Hashes of everything but the endpoints, and of these. */
  readonly revision: string
  readonly endpoints: string
}

interface Indexes<F> {
  readonly index: DeliveryIndex & { readonly format: F }
  readonly endpoints: EndpointIndex & { readonly format: F }
}

interface Known<T> {
  readonly sha256: string
  readonly value: T
}

function fault(value: DeliveryFault): Fault {
  return { fault: value }
}

function incomplete(missing: readonly MissingFile[]): DeliveryFault {
  return { reason: 'Incomplete', message: `missing: ${missing.map(({ names }) => names[0]).join(', ')}`, missing }
}

function documentOf<T>(
  known: Known<T> | undefined,
  ref: DocumentRef,
  file: ReadFile,
  check: (value: unknown) => T | { problems: readonly Problem[] },
): Known<T> | Fault {
  if (known?.sha256 === ref.sha256) return known
  const decoded = decodeDocument(ref, file)
  if (!('value' in decoded)) return fault(documentFault(decoded))
  const value = check(decoded.value)
  if (typeof value !== 'object' || value === null || !('problems' in value)) return { sha256: ref.sha256, value }
  return fault(invalid(ref, value.problems))
}

function invalid({ files }: DocumentRef, [first]: readonly Problem[]): DeliveryFault {
  return { reason: 'Invalid', message: `${files.join(', ')}: ${first?.path}: ${first?.message}`, missing: [] }
}

function secretsFault(ref: DocumentRef, outcome: Exclude<SecretsOutcome, { value: RenderedSecrets }>): DeliveryFault {
  return 'problems' in outcome ? invalid(ref, outcome.problems) : documentFault(outcome)
}

function documentFault({ reason, message, missing }: DocumentFault): DeliveryFault {
  const partOf = (name: string): MissingFile['part'] => {
    if (name.startsWith('secrets-')) return 'secrets'
    return name.startsWith('endpoints-') ? 'endpoints' : 'config'
  }
  return {
    reason,
    message,
    missing: missing.map((name) => ({ names: [name], part: partOf(name), shard: shardOfFile(name) })),
  }
}

function endpointIndexOf(index: DeliveryIndex, file: ReadFile): { readonly index: EndpointIndex } | Fault {
  const name = endpointIndexFile(index.services)
  const bytes = file(name)
  if (bytes === undefined) return fault(incomplete([{ names: [name], part: 'endpoints', shard: 0 }]))
  const read = readEndpointIndex(bytes, index.services)
  return 'index' in read ? read : fault({ reason: 'Unsupported', message: read.fault, missing: [] })
}

function configOf(value: unknown): RenderedConfig | { problems: readonly Problem[] } {
  const problems = validateConfig(value)
  // validateConfig: without problems it is one.
  return problems.length === 0 ? (value as RenderedConfig) : { problems }
}

function workloadsOf(value: unknown): Workloads | { problems: readonly Problem[] } {
  // Our own document; what is not a list fails the check below.
  const { workloads } = { ...(value as { workloads?: Workloads }) }
  const problems = validateConfig({ ...emptyConfig(), workloads })
  return problems.length === 0 && workloads !== undefined ? workloads : { problems }
}
