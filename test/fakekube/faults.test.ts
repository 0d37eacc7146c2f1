// The operator reaches the same state after all kinds of faults: dropped watches, expired versions, conflicts, rejected
// requests, lost responses, a slow server, a cut network, killed or replaced leaders; by seeds, on virtual time.
// GW_FAULT_SEEDS sets the number of seeds, GW_FAULT_SEED a single one.
import { describe, expect, it } from 'vitest'
import { SETTLE_MS } from '#operator/publish/publish-context.ts'
import { FakeApi, type Fault, type FakeRequest } from './api.ts'
import { pick, type RandomNumbers, randomOf } from '../random.ts'
import { holderOf, NO_WRITES, type Replica, type ReplicaSite, startReplica } from './replica.ts'
import { stepsOf } from './scenario.ts'
import { VirtualTime } from './virtual-time.ts'
import { visibleState } from './visible-state.ts'

const SEEDS = Number(process.env['GW_FAULT_SEEDS'] ?? 200)
const ONE = process.env['GW_FAULT_SEED']
const TOGETHER = 10
const GROUP_MS = 120_000
/** The following values are virtual time. */
const CONVERGED_MS = 120_000
const QUIET_MS = 2000
const CALLS_MS = 5000
/** Longer than files of an earlier delivery are kept: they are removed when no proxy can be reading them. */
const SETTLED_MS = SETTLE_MS + 20_000
const AFTER_MS = 20_000

function faultsOf(random: RandomNumbers): (request: FakeRequest) => Fault | undefined {
  return ({ method, isWatch }) => {
    if (random() > 0.25) return undefined
    if (isWatch)
      return pick<Fault>(random, [{ kind: 'status', status: 410 }, { kind: 'drop' }, { kind: 'status', status: 500 }])
    const common: [Fault, ...Fault[]] = [
      { kind: 'status', status: 429, retryAfter: 0.05 },
      { kind: 'status', status: 500 },
      { kind: 'drop' },
      { kind: 'slow', ms: Math.floor(random() * 900) },
    ]
    if (method === 'GET') return pick(random, common)
    return pick<Fault>(random, [...common, { kind: 'status', status: 409 }, { kind: 'lose-answer' }])
  }
}

/** Two replicas; the leader is sometimes stopped, killed or cut off, and another one replaces it. */
class Fleet {
  readonly #site: ReplicaSite
  #replicas: Replica[] = []
  #count = 0

  constructor(site: ReplicaSite) {
    this.#site = site
  }

  get leader(): Replica | undefined {
    return this.#replicas.find(({ operator }) => operator.isLeading())
  }

  async add(): Promise<void> {
    this.#replicas.push(await startReplica(this.#site, `replica-${++this.#count}`))
  }

  async disturb(random: RandomNumbers): Promise<void> {
    const leader = this.#replicas.find(({ name }) => name === holderOf(this.#site.api))
    if (leader === undefined) return
    const what = pick<'stop' | 'kill' | 'cut'>(random, ['stop', 'kill', 'cut'])
    if (what === 'cut') {
      leader.cut()
      await this.#site.time.pass(random() * 9000)
      leader.heal()
      return
    }
    this.#replicas = this.#replicas.filter((one) => one !== leader)
    await leader[what]()
    await this.add()
  }

  async end(): Promise<void> {
    for (const replica of this.#replicas) await replica.stop()
  }
}

function siteOf(seed: number): ReplicaSite {
  const random = randomOf(seed * 31)
  const api = new FakeApi()
  api.hasStreamedLists = seed % 2 === 0
  return {
    api,
    time: new VirtualTime(),
    seed: String(seed),
    latencyMs: () => 1 + Math.floor(random() * 4),
    wrongWrites: [],
  }
}

/** All changes at once, without faults. */
async function undisturbed(seed: number): Promise<unknown> {
  const site = { ...siteOf(seed), environment: { GW_DISABLE_LEADER_ELECTION: 'true' } }
  const replica = await startReplica(site, 'alone')
  for (const step of stepsOf(seed)) step(site.api.store)
  expect(await untilQuiet(site, () => replica.operator.isIdle())).toBe(true)
  const state = visibleState(site.api.store)
  await replica.stop()
  return state
}

interface Outcome {
  readonly state: unknown
  readonly wrongWrites: readonly string[]
  /** Number of calls, without those of leadership, after all changes. */
  readonly laterWrites: readonly string[]
}

async function disturbed(seed: number, expected: unknown): Promise<Outcome> {
  const site = siteOf(seed)
  const { api, time, wrongWrites } = site
  const random = randomOf(seed * 7919)
  const fleet = new Fleet(site)
  api.fault = faultsOf(random)
  await fleet.add()
  await fleet.add()
  for (const step of stepsOf(seed)) {
    step(api.store)
    if (random() < 0.2) api.dropWatches()
    if (random() < 0.1) api.store.compact()
    if (random() < 0.1) api.bookmark()
    if (random() < 0.1) await fleet.disturb(random)
    // Some steps happen while the operator is busy, others while it is idle.
    await time.pass(random() < 0.5 ? 0 : random() * 400)
  }
  api.fault = () => undefined
  // Calls in progress have ended.
  await time.pass(CALLS_MS)
  api.store.collectGarbage()
  const wanted = JSON.stringify(expected)
  await time.until(() => isDone(api, fleet, wanted), CONVERGED_MS)
  const isWrite = ({ method, resource }: FakeRequest): boolean => method !== 'GET' && !NO_WRITES.has(resource)
  await time.pass(SETTLED_MS)
  const from = api.requests.length
  await time.pass(AFTER_MS)
  const later = api.requests.slice(from).filter(isWrite)
  const state = visibleState(api.store)
  await fleet.end()
  return { state, wrongWrites, laterWrites: later.map(({ method, path }) => `${method} ${path}`) }
}

function isDone(api: FakeApi, { leader }: Fleet, wanted: string): boolean {
  return leader?.operator.isIdle() === true && JSON.stringify(visibleState(api.store)) === wanted
}

/** No calls for a while. */
function untilQuiet({ api, time }: ReplicaSite, isIdle: () => boolean): Promise<boolean> {
  let seen = -1
  let since = time.nowMs
  return time.until(() => {
    const writes = api.store.version
    if (writes !== seen || !isIdle()) since = time.nowMs
    seen = writes
    return time.nowMs - since >= QUIET_MS
  }, CONVERGED_MS)
}

describe('the operator under faults', () => {
  const all = ONE === undefined ? Array.from({ length: SEEDS }, (_, index) => index + 1) : [Number(ONE)]
  const groups = Array.from({ length: Math.ceil(all.length / TOGETHER) }, (_, group) =>
    all.slice(group * TOGETHER, (group + 1) * TOGETHER),
  )
  // `make test` runs the first group.
  for (const [at, seeds] of groups.entries()) {
    const tags = at === 0 ? [] : ['full']
    it(`ends as without them, seeds ${seeds[0]} to ${seeds.at(-1)}`, { tags, timeout: GROUP_MS }, async () => {
      for (const seed of seeds) {
        const expected = await undisturbed(seed)
        const { state, wrongWrites, laterWrites } = await disturbed(seed, expected)
        expect(state, `seed ${seed}`).toEqual(expected)
        expect([wrongWrites, laterWrites], `seed ${seed}`).toEqual([[], []])
      }
    })
  }
})
