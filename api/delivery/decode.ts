// Files of a delivery back into a configuration: all of it, or a reason. Hashes, form and schema are checked before
// anything is handed out. Keeps the last documents, because most deliveries change one of three.
import { emptyConfig } from '../ir/empty.ts'
import { keepItems } from '../ir/keep-items.ts'
import type { RenderedConfig, RenderedSecrets } from '../ir/types.gen.ts'
import { validateConfig, validateSecrets } from '../ir/validate.ts'
import type { Problem } from '../problem.ts'
import { decodeDocument, type DocumentRef } from './document.ts'
import {
  type DeliveryIndex,
  type EndpointIndex,
  endpointIndexFile,
  INDEX_FILE,
  readDeliveryIndex,
  readEndpointIndex,
} from './index-file.ts'

export type ReadFile = (name: string) => Uint8Array | undefined

export interface Delivered {
  readonly index: DeliveryIndex
  /** Hash over everything that is in force with this; equal revisions are equal configurations. */
  readonly revision: string
  /** What says the same as before is the same object. */
  readonly config: RenderedConfig
  readonly secrets: RenderedSecrets
}

export interface DeliveryFault {
  /**
   * Incomplete: objects of two generations are mixed, or some are not there yet; another try will succeed. The others
   * stay until the next delivery.
   */
  readonly reason: 'Incomplete' | 'Corrupt' | 'Unsupported' | 'Invalid'
  readonly message: string
  /** Files to look for, when Incomplete. */
  readonly missing: readonly string[]
}

export type DecodeOutcome = { readonly delivered: Delivered } | { readonly fault: DeliveryFault }

/** One for each source of deliveries: it remembers what it has decoded. */
export class DeliveryDecoder {
  #config: Known<RenderedConfig> | undefined = undefined
  #secrets: Known<RenderedSecrets> | undefined = undefined
  #endpoints: Known<RenderedConfig['workloads']> | undefined = undefined
  #last: RenderedConfig = emptyConfig()

  decode(file: ReadFile): DecodeOutcome {
    const bytes = file(INDEX_FILE)
    if (bytes === undefined) return fault({ reason: 'Incomplete', message: 'no index', missing: [INDEX_FILE] })
    const read = readDeliveryIndex(bytes)
    if ('fault' in read) return fault({ reason: 'Unsupported', message: read.fault, missing: [] })
    const { index } = read
    const config = documentOf(this.#config, index.config, file, configOf)
    if ('fault' in config) return config
    this.#config = config
    const secrets = documentOf(this.#secrets, index.secrets, file, secretsOf)
    if ('fault' in secrets) return secrets
    this.#secrets = secrets
    const endpointIndex = endpointIndexOf(index, file)
    if ('fault' in endpointIndex) return endpointIndex
    const ref = endpointIndex.index.endpoints
    const endpoints = documentOf(this.#endpoints, ref, file, workloadsOf)
    if ('fault' in endpoints) return endpoints
    this.#endpoints = endpoints
    this.#last = keepItems(this.#last, { ...config.value, workloads: endpoints.value })
    return {
      delivered: {
        index,
        revision: [index.config, index.secrets, ref].map(({ sha256 }) => sha256.slice(0, 12)).join('.'),
        config: this.#last,
        secrets: secrets.value,
      },
    }
  }
}

interface Known<T> {
  readonly sha256: string
  readonly value: T
}

type Fault = { readonly fault: DeliveryFault }

function fault(value: DeliveryFault): Fault {
  return { fault: value }
}

function documentOf<T>(
  known: Known<T> | undefined,
  ref: DocumentRef,
  file: ReadFile,
  check: (value: unknown) => T | { problems: readonly Problem[] },
): Known<T> | Fault {
  if (known?.sha256 === ref.sha256) return known
  const decoded = decodeDocument(ref, file)
  if (!('value' in decoded)) return fault(decoded)
  const value = check(decoded.value)
  if (typeof value !== 'object' || value === null || !('problems' in value)) return { sha256: ref.sha256, value }
  const [first] = value.problems
  const message = `${ref.files.join(', ')}: ${first?.path}: ${first?.message}`
  return fault({ reason: 'Invalid', message, missing: [] })
}

function endpointIndexOf(index: DeliveryIndex, file: ReadFile): { readonly index: EndpointIndex } | Fault {
  const name = endpointIndexFile(index.services)
  const bytes = file(name)
  if (bytes === undefined) return fault({ reason: 'Incomplete', message: `not there: ${name}`, missing: [name] })
  const read = readEndpointIndex(bytes, index.services)
  return 'index' in read ? read : fault({ reason: 'Unsupported', message: read.fault, missing: [] })
}

function configOf(value: unknown): RenderedConfig | { problems: readonly Problem[] } {
  const problems = validateConfig(value)
  // validateConfig: without problems it is one.
  return problems.length === 0 ? (value as RenderedConfig) : { problems }
}

function secretsOf(value: unknown): RenderedSecrets | { problems: readonly Problem[] } {
  // Our own document; what is not an object fails the check below.
  const { salt: _salt, ...secrets } = { ...(value as { salt?: unknown }) }
  const problems = validateSecrets(secrets)
  // validateSecrets: without problems it is one.
  return problems.length === 0 ? (secrets as unknown as RenderedSecrets) : { problems }
}

function workloadsOf(value: unknown): RenderedConfig['workloads'] | { problems: readonly Problem[] } {
  // Our own document; what is not a list fails the check below.
  const { workloads } = { ...(value as { workloads?: RenderedConfig['workloads'] }) }
  const problems = validateConfig({ ...emptyConfig(), workloads })
  return problems.length === 0 && workloads !== undefined ? workloads : { problems }
}
