// A rendered configuration as whole documents (format 1), for proxies that read no chunks; encode-chunks.ts makes what
// the others get. Pure: number of the delivery and salt come from the caller. The order of the objects is the order in
// which they have to be written.
import { isIdentical } from '../incremental/identical.ts'
import type { Problem } from '../problem.ts'
import type { RenderedConfig, RenderedSecrets } from '../ir/types.gen.ts'
import { type EncodedDocument, encodeDocument, type Files, hashOf } from './document.ts'
import { type DocumentIndex, type EndpointIndex, endpointIndexFile, INDEX_FILE } from './index-file.ts'
import { type DeliveryNames, deliveryNames, type DeliveryPart, SHARDS_MAX } from './names.ts'

export interface DeliveryInput {
  readonly gateway: { readonly name: string; readonly uid: string; readonly generation: number }
  readonly config: RenderedConfig
  readonly secrets: RenderedSecrets
  /** Grows with every delivery to this Gateway. */
  readonly generation: number
  /**
   * Random text of this Gateway, kept in its Secret. It is part of what is hashed, so that the hash in the index, which
   * lies in a ConfigMap, cannot confirm a guess of a secret.
   */
  readonly salt: string
}

export interface DeliveredObject {
  readonly kind: 'ConfigMap' | 'Secret'
  readonly part: keyof typeof PART_NAMES
  readonly name: string
  readonly files: Files
}

export interface Delivery {
  readonly index: DocumentIndex
  /** What the index points to comes before it. */
  readonly objects: readonly DeliveredObject[]
}

export function encodeDelivery(input: DeliveryInput): Delivery | { readonly problem: Problem } {
  return new DeliveryEncoder().encode(input)
}

/** Of one Gateway: what has not changed since the last delivery is not written, hashed and packed again. */
export class DeliveryEncoder {
  readonly #routes = new Last<EncodedDocument>()
  readonly #secrets = new Last<EncodedDocument>()
  readonly #endpoints = new Last<EncodedDocument>()
  readonly #services = new Last<string>()

  encode({ gateway, config, secrets, generation, salt }: DeliveryInput): Delivery | { readonly problem: Problem } {
    const names = deliveryNames(gateway.name)
    const { workloads, ...routing } = config
    const services = this.#services.of([config.services], () => hashOf(JSON.stringify(config.services)))
    const routes = this.#routes.of(Object.values(routing), () =>
      encodeDocument('config', { ...routing, workloads: [] }),
    )
    const sensitive = this.#secrets.of([secrets, salt], () => encodeDocument('secrets', { salt, ...secrets }))
    const endpoints = this.#endpoints.of([workloads], () => encodeDocument('endpoints', { workloads }))
    const index: DocumentIndex = {
      format: 1,
      generation,
      gateway: { uid: gateway.uid, generation: gateway.generation },
      config: routes.ref,
      secrets: sensitive.ref,
      services,
    }
    const endpointIndex: EndpointIndex = { format: 1, services, endpoints: endpoints.ref }
    const firstEndpoints = file(endpointIndexFile(services), endpointIndex)
    const firstRoutes = file(INDEX_FILE, index)
    const parts = [
      place({ kind: 'Secret', part: 'secrets', names, document: sensitive, first: new Map() }),
      place({ kind: 'ConfigMap', part: 'endpoints', names, document: endpoints, first: firstEndpoints }),
      place({ kind: 'ConfigMap', part: 'config', names, document: routes, first: firstRoutes }).toReversed(),
    ]
    const problem = sizeProblem(parts.flat())
    return problem === undefined ? { index, objects: parts.flat() } : { problem }
  }
}

/** undefined: every piece has an object. */
function sizeProblem(objects: readonly DeliveredObject[]): Problem | undefined {
  const tooLarge = objects.find(({ name }) => name === '')
  return tooLarge && largeProblem(tooLarge.part)
}

/** The last result, returned again for the same input objects. */
export class Last<T> {
  #known: { readonly inputs: readonly unknown[]; readonly made: T } | undefined = undefined

  of(inputs: readonly unknown[], make: () => T): T {
    const known = this.#known
    if (known !== undefined && isIdentical(known.inputs, inputs)) return known.made
    const made = make()
    this.#known = { inputs, made }
    return made
  }
}

function file(name: string, value: unknown): Files {
  return new Map([[name, Buffer.from(JSON.stringify(value, undefined, 1))]])
}

interface Placement {
  readonly kind: DeliveredObject['kind']
  readonly part: 'config' | 'endpoints' | 'secrets'
  readonly names: DeliveryNames
  readonly document: EncodedDocument
  /** Files of the first object besides the document. */
  readonly first: Files
}

/** One piece for each object. A piece that has no object gets the name '': the document is too large. */
function place({ kind, part, names, document, first }: Placement): DeliveredObject[] {
  return [...document.files].map(([name, content], shard) => ({
    kind,
    part,
    name: names[part][shard] ?? '',
    files: new Map([...(shard === 0 ? first : []), [name, content]]),
  }))
}

/** With what users call the content of a part. */
export const PART_NAMES = {
  config: 'routes and policies',
  endpoints: 'endpoints',
  secrets: 'certificates, keys and passwords',
} as const satisfies { readonly [P in DeliveryPart]?: string }

/** Proxies keep the content of the part that they have. */
export function largeProblem(part: keyof typeof PART_NAMES): Problem {
  const what = PART_NAMES[part]
  const size = `${SHARDS_MAX[part]} ${part === 'secrets' ? 'Secrets' : 'ConfigMaps'} of 1 MiB`
  const message = `the ${what} of this Gateway do not fit into ${size}; proxies keep those in force. Move some to another Gateway`
  return { path: part, reason: 'TooLarge', message, severity: 'error' }
}

/** The maximum size of one object; the API server rejects more than 1 MiB. */
export const OBJECT_BYTES_MAX = 1000 * 1024

/**
 * The same objects with the files of the delivery before, as long as they fit. While both are there, a proxy that sees
 * some objects earlier than others has a whole configuration: the old index finds old files, the new one new ones.
 */
export function keepingPrevious(
  objects: readonly DeliveredObject[],
  previous: ReadonlyMap<string, Files>,
): DeliveredObject[] {
  return objects.map((object) => {
    // The object of the index switches with it.
    if (object.files.has(INDEX_FILE)) return object
    const files: Files = new Map(object.files)
    let bytes = sizeOf(files)
    for (const [name, content] of previous.get(`${object.kind}/${object.name}`) ?? []) {
      bytes += name.length + content.length
      if (!files.has(name) && bytes <= OBJECT_BYTES_MAX) files.set(name, content)
    }
    return { ...object, files }
  })
}

export function sizeOf(files: Files): number {
  let bytes = 0
  for (const [name, content] of files) bytes += name.length + content.length
  return bytes
}
