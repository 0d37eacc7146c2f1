// Plans which objects to write, in which order, to bring a delivery of chunks to the wanted state. Pure.
import { announcedProxies } from '#api/delivery/acknowledging.ts'
import { type Chunk, type ChunkEncoding, hasChunk } from '#api/delivery/chunks.ts'
import type { ChunkedDelivery } from '#api/delivery/encode-chunks.ts'
import { type DocumentRef, type Files, hashOf } from '#api/delivery/document.ts'
import { type DeliveredObject, largeProblem } from '#api/delivery/encode.ts'
import {
  type ChunkIndex,
  type ChunkRef,
  endpointIndexFile,
  INDEX_FILE,
  type ListRefs,
  readChunkRef,
  ROUTING_LISTS,
} from '#api/delivery/index-file.ts'
import { type DeliveryNames, deliveryNames } from '#api/delivery/names.ts'
import type { Gateway } from '#api/gateway/gateway.gen.ts'
import { isIdentical } from '#api/incremental/identical.ts'
import type { ListName } from '#api/ir/lists.ts'
import type { Problem } from '#api/problem.ts'
import { type FilesInForce, filesInForce } from './files-in-force.ts'
import { type HeldFiles, only } from './held-files.ts'
import { endpointIndexOf, writeDeliveryIndex, writeEndpointIndex } from './known-indexes.ts'
import { type PartInput, type PartPlan, PartPlanner, type ShardFiles } from './plan-part.ts'
import { planSecrets, type SecretsPlan } from './plan-secrets.ts'

type Part = 'config' | 'endpoints'

export interface DeliveryInput {
  readonly held: HeldFiles
  /** Of the last index that was written. */
  readonly generation: number
  readonly gateway: Gateway
  /** Of the Gateway. */
  readonly pods: number
  readonly encoded: ChunkedDelivery
}

export interface DeliveryPlan {
  /** Up to the index of the configuration, in order. */
  readonly before: readonly DeliveredObject[]
  /** Writes that only make the next change smaller. */
  readonly after: readonly DeliveredObject[]
  /** The number of the index that is in force afterwards. */
  readonly generation: number
  /** Some files are no longer needed when every proxy has the new index. */
  readonly leavesFiles: boolean
  /**
   * A part that does not fit into its objects: it stays as it is in force, and so do the parts that depend on it.
   * Endpoints depend on no other part.
   */
  readonly problem?: Problem
}

export function planDelivery(input: DeliveryInput): DeliveryPlan {
  return new DeliveryPlanner().plan(input)
}

/** For one Gateway: checks only what has changed since the last plan. Returns the same plan as a fresh planner. */
export class DeliveryPlanner {
  readonly #parts: PartPlanners = {
    config: new PartPlanner(),
    endpoints: new PartPlanner(),
    present: new PresentRefs(),
  }

  plan(input: DeliveryInput): DeliveryPlan {
    const { gateway, encoded } = input
    const names = deliveryNames(gateway.metadata.name)
    const state = stateOf(input, names)
    const secrets = planSecrets({ ...input, names, inForce: state.inForce.secrets, encoded: encoded.secrets })
    const config = configPlan(state, secrets.ref, this.#parts)
    if (config === undefined) return this.#onlyEndpoints(state, largeProblem('config'))
    const endpoints = endpointsPlan(state, this.#parts)
    if (endpoints === undefined) {
      const tooLarge = largeProblem('endpoints')
      // The index in force names the same Services, so it fits the endpoints in force.
      if (state.services !== state.inForce.index?.services) return nothing(state, tooLarge)
      return { ...this.#planned(state, secrets, { config, endpoints: 'as it is' }), problem: tooLarge }
    }
    return this.#planned(state, secrets, { config, endpoints })
  }

  /** Those of the Services in force. */
  #onlyEndpoints(state: PlanState, problem: Problem): DeliveryPlan {
    const { names, inForce } = state
    if (inForce.index?.format !== 2) return nothing(state, problem)
    const endpoints = endpointsPlan({ ...state, services: inForce.index.services }, this.#parts)
    return {
      ...nothing(state, problem),
      before: endpoints === undefined ? [] : objectsOf('endpoints', names, endpoints).before,
    }
  }

  #planned(
    state: PlanState,
    secrets: SecretsPlan,
    { config, endpoints }: { readonly config: PartOutcome; readonly endpoints: PartOutcome },
  ): DeliveryPlan {
    const { names } = state
    const [ofEndpoints, ofConfig] = [objectsOf('endpoints', names, endpoints), objectsOf('config', names, config)]
    const before = [...secrets.objects, ...ofEndpoints.before, ...ofConfig.before]
    const after = [...ofEndpoints.after, ...ofConfig.after]
    const isNewIndex = config !== 'as it is'
    const leavesFiles = secrets.objects.length > 0 || (isNewIndex && state.inForce.index?.services !== state.services)
    return { before, after, generation: state.generation + (isNewIndex ? 1 : 0), leavesFiles }
  }
}

/** State that is kept from one plan to the next. */
interface PartPlanners {
  readonly config: PartPlanner
  readonly endpoints: PartPlanner
  readonly present: PresentRefs
}

interface PlanState extends DeliveryInput {
  readonly names: DeliveryNames
  readonly inForce: FilesInForce
  /**
   * Names the endpoint index that matches the Services. Never a previous name, even where the Services are the same: a
   * proxy that sees the objects in another order would use the previous endpoints.
   */
  readonly services: string
}

function stateOf(input: DeliveryInput, names: DeliveryNames): PlanState {
  const inForce = filesInForce(input.held, names)
  const { index } = inForce
  const { services } = input.encoded.lists
  // The response to the last write may have been lost.
  const generation = Math.max(input.generation, index?.generation ?? 0)
  const isAsBefore = index?.format === 2 && areOf(index.lists.services ?? [], services)
  return {
    ...input,
    names,
    inForce,
    generation,
    services: isAsBefore ? index.services : hashOf(`${generation + 1} ${services.map(({ id }) => id).join(' ')}`),
  }
}

type PartOutcome = PartPlan | 'as it is'

function endpointsPlan(
  { held, encoded, names, inForce, services }: PlanState,
  parts: PartPlanners,
): PartOutcome | undefined {
  const { workloads } = encoded.lists
  const present = presentFiles(held, names.endpoints)
  const file = endpointIndexFile(services)
  const live = endpointIndexOf(present[0]?.get(file), services)
  const isLive = 'index' in live && live.index.format === 2
  if (isLive && parts.present.hasAll(live.index.workloads, workloads, { list: 'workloads', present })) return 'as it is'
  const isSwitched = inForce.index?.services === services
  return parts.endpoints.plan({
    present,
    wanted: [{ list: 'workloads', chunks: workloads }],
    encoding: encodingOf(encoded),
    inForce: () => inForce.endpoints,
    // With other Services the endpoints in force stay until the index of the configuration is written.
    besideIndex: isSwitched ? new Map() : only(present[0], inForce.endpoints),
    index: (refsOf) => new Map([[file, writeEndpointIndex({ format: 2, services, workloads: refsOf('workloads') })]]),
  })
}

function configPlan(state: PlanState, secrets: DocumentRef, parts: PartPlanners): PartOutcome | undefined {
  const { held, gateway, pods, encoded, names, inForce, services } = state
  const { lists } = encoded
  const present = presentFiles(held, names.config)
  const { generation: gatewayGeneration = 0, uid = '' } = gateway.metadata
  const about = {
    gateway: { uid, generation: gatewayGeneration },
    version: encoded.version,
    services,
    secrets,
    proxies: announcedProxies(pods, inForce.index?.proxies),
  }
  if (inForce.index?.format === 2 && isAbout(inForce.index, about)) {
    const { lists: refs } = inForce.index
    if (ROUTING_LISTS.every((list) => parts.present.hasAll(refs[list] ?? [], lists[list], { list, present })))
      return 'as it is'
  }
  const generation = state.generation + 1
  return parts.config.plan({
    present,
    wanted: ROUTING_LISTS.map((list) => ({ list, chunks: lists[list] })),
    encoding: encodingOf(encoded),
    inForce: () => inForce.config,
    besideIndex: new Map(),
    index: (refsOf) =>
      new Map([
        [INDEX_FILE, writeDeliveryIndex({ format: 2, generation, ...about, lists: listRefs(encoded, refsOf) })],
      ]),
  })
}

function listRefs({ lists }: ChunkedDelivery, refsOf: Parameters<PartInput['index']>[0]): ListRefs {
  const filled = ROUTING_LISTS.filter((list) => lists[list].length > 0)
  return Object.fromEntries(filled.map((list) => [list, refsOf(list)]))
}

function isAbout(index: ChunkIndex, about: Omit<ChunkIndex, 'format' | 'generation' | 'lists'>): boolean {
  return (
    index.version === about.version &&
    index.services === about.services &&
    index.proxies === about.proxies &&
    index.secrets.sha256 === about.secrets.sha256 &&
    isIdentical(index.secrets.files, about.secrets.files) &&
    index.gateway.uid === about.gateway.uid &&
    index.gateway.generation === about.gateway.generation
  )
}

interface RefsOfList {
  readonly refs: readonly ChunkRef[]
  readonly chunks: readonly Chunk[]
  readonly present: readonly Files[]
}

/** Whether the references name these chunks, and each chunk is in its object: checked once. */
class PresentRefs {
  readonly #known = new Map<ListName, RefsOfList>()

  hasAll(
    refs: readonly ChunkRef[],
    chunks: readonly Chunk[],
    { list, present }: { readonly list: ListName; readonly present: readonly Files[] },
  ): boolean {
    const known = this.#known.get(list)
    const isKnown = known?.refs === refs && known.chunks === chunks
    if (isKnown && isIdentical(known.present, present)) return true
    if (!isKnown && !areOf(refs, chunks)) return false
    const areThere = refs.every((ref) => {
      const { id, shard } = readChunkRef(ref)
      const files = present[shard]
      return files !== undefined && hasChunk(files, list, id)
    })
    if (areThere) this.#known.set(list, { refs, chunks, present })
    return areThere
  }
}

/** The references name these chunks. */
function areOf(refs: readonly ChunkRef[], chunks: readonly Chunk[]): boolean {
  // Usually only one of them differs.
  return refs.length === chunks.length && refs.every((ref, at) => ref.startsWith(chunks[at]?.id ?? ' '))
}

function encodingOf({ isReadable }: ChunkedDelivery): ChunkEncoding {
  return isReadable ? 'json' : 'gz'
}

function presentFiles(held: HeldFiles, names: readonly string[]): Files[] {
  return names.map((name) => held.files({ kind: 'ConfigMap', name }))
}

/** Before and after the switch. */
function objectsOf(part: Part, names: DeliveryNames, plan: PartOutcome): Pick<DeliveryPlan, 'before' | 'after'> {
  if (plan === 'as it is') return { before: [], after: [] }
  const object = ({ shard, files }: ShardFiles): DeliveredObject => ({
    kind: 'ConfigMap',
    part,
    name: names[part][shard] ?? '',
    files,
  })
  const { first, head, later } = plan
  return { before: [...first, { shard: 0, files: head }].map(object), after: later.map(object) }
}

/** Nothing is written. */
function nothing({ generation }: PlanState, problem: Problem): DeliveryPlan {
  return { before: [], after: [], generation, leavesFiles: false, problem }
}
