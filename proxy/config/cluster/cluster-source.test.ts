// A proxy follows its delivery through a real HTTP API: starts from the mount, applies whole deliveries, keeps the
// previous one after a rejection, acknowledges, and survives broken watches.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readAcknowledgements } from '#api/delivery/acknowledgement.ts'
import { type DeliveredObject, encodeDelivery, keepingPrevious } from '#api/delivery/encode.ts'
import { keySetId } from '#api/delivery/unknown-keys.ts'
import { emptyConfig } from '#api/ir/empty.ts'
import type { RenderedConfig } from '#api/ir/types.gen.ts'
import { TestDelivery } from '#operator/publish/delivery.testing.ts'
import { FakeKube } from '#test/fakekube/server.ts'
import type { FakeObject } from '#test/fakekube/store.ts'
import { until } from '#test/wait.ts'
import { createLogger } from '../../log/logger.ts'
import { parseLevelFilter } from '../../log/level-filter.ts'
import { type ApplyResult, SUPERSEDED } from '../apply-result.ts'
import { ClusterSource } from './cluster-source.ts'
import { createKubeClient } from './kube-client.ts'

const lines: string[] = []
const filter = parseLevelFilter('debug')
if ('problem' in filter) throw new Error(filter.problem)
const logger = createLogger({ format: 'text', filter, write: (line) => lines.push(line) }).module('test')

let kube: FakeKube
let folder: string
let source: ClusterSource | undefined
const applied: number[] = []
const secretsSeen: string[] = []
let refuse: number | undefined
/** To put these in force takes until `end`. */
const slow = new Set<number>()
const begun: number[] = []
let end = Promise.withResolvers<ApplyResult>()

beforeEach(async () => {
  kube = await FakeKube.start()
  folder = mkdtempSync(join(tmpdir(), 'gw-mount-'))
  applied.length = 0
  secretsSeen.length = 0
  refuse = undefined
  slow.clear()
  begun.length = 0
  end = Promise.withResolvers()
  const metadata = { name: 'web-acknowledgements', namespace: 'shop' }
  kube.store.create('configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata })
})

afterEach(async () => {
  await source?.stop()
  source = undefined
  await kube.stop()
  rmSync(folder, { recursive: true })
})

function objectsOf(port: number, generation: number, padding = ''): readonly DeliveredObject[] {
  const config = { ...emptyConfig(), binds: [{ key: `${port}/shop/web${padding}`, port }] }
  const secrets = { version: 1 as const, secrets: [{ key: 'k', value: `secret of ${port}` }] }
  const gateway = { name: 'web', uid: 'u', generation: 1 }
  const delivery = encodeDelivery({ gateway, config, secrets, generation, salt: 's' })
  if ('problem' in delivery) throw new Error(delivery.problem.message)
  return delivery.objects
}

function asKube({ kind, name, files }: DeliveredObject): FakeObject {
  const base64 = Object.fromEntries([...files].map(([file, bytes]) => [file, Buffer.from(bytes).toString('base64')]))
  const metadata = { name, namespace: 'shop' }
  return { apiVersion: 'v1', kind, metadata, ...(kind === 'Secret' ? { data: base64 } : { binaryData: base64 }) }
}

/** Text that gzip cannot compress. */
function noise(from: number, length = 40_000): string {
  let seed = from
  return Array.from({ length }, () => {
    seed ^= seed << 13
    seed ^= seed >>> 17
    seed ^= seed << 5
    return String.fromCodePoint(97 + ((seed >>> 8) % 26))
  }).join('')
}

function resourceOf({ kind }: DeliveredObject): string {
  return kind === 'Secret' ? 'secrets' : 'configmaps'
}

function write(objects: readonly DeliveredObject[]): void {
  for (const object of objects) kube.store.apply(resourceOf(object), asKube(object), 'operator')
}

async function start(withApi = true): Promise<void> {
  source = new ClusterSource({
    namespace: 'shop',
    gateway: 'web',
    pod: 'web-1',
    mountPath: folder,
    client: withApi ? createKubeClient({ server: kube.url, ca: undefined, token: () => 't' }) : undefined,
    logger,
    apply: async (config, secrets) => {
      const port = config.binds[0]?.port ?? 0
      if (port === refuse)
        return { problem: { path: '', reason: 'Rejected', message: 'no such port', severity: 'error' } }
      begun.push(port)
      if (slow.has(port)) return await end.promise
      applied.push(port)
      secretsSeen.push(secrets.secrets[0]?.value ?? '')
      return { generation: applied.length, warnings: [] }
    },
    supersede: () => end.resolve(SUPERSEDED),
  })
  await source.start()
}

function acknowledged(): ReturnType<typeof readAcknowledgements> {
  // A ConfigMap.
  const object = kube.store.get('configmaps', 'shop/web-acknowledgements') as
    | { data?: Record<string, string> }
    | undefined
  return readAcknowledgements(object?.data)
}

describe('ClusterSource', () => {
  it('starts from the mount without an API server', async () => {
    for (const { files } of objectsOf(80, 1)) {
      for (const [name, bytes] of files) writeFileSync(join(folder, name), bytes)
    }
    await start(false)
    expect(applied).toEqual([80])
  })

  it('starts from a mount of chunks, and reads other objects if it must', { tags: ['full'] }, async () => {
    const delivery = new TestDelivery()
    const configOf = (from: number): RenderedConfig => ({
      ...emptyConfig(),
      // More than one object can hold.
      binds: Array.from({ length: 40 }, (_, at) => ({ key: `${noise(from + at)}/shop/web`, port: from + at })),
    })
    const secrets = { version: 1 as const, secrets: [] }
    const first = delivery.writes(configOf(1000), secrets)
    expect(first.map(({ name }) => name)).toContain('web-config-1')
    for (const [name, bytes] of delivery.files()) writeFileSync(join(folder, name), bytes)
    write(first)
    kube.requests.length = 0
    await start()
    await until('the first one', () => acknowledged().get('web-1')?.generation === 1)
    const gets = (): string[] => kube.requests.map(({ path }) => path).filter((path) => path.includes('web-config-'))
    expect(gets()).toEqual([])
    write(delivery.writes(configOf(2000), secrets))
    await until('the second one', () => acknowledged().get('web-1')?.generation === 2)
    expect(gets().length).toBeGreaterThan(0)
    expect(acknowledged().get('web-1')?.reads).toBe(2)
    const [bind, ...rest] = configOf(2000).binds
    write(delivery.writes({ ...emptyConfig(), binds: [{ key: bind?.key ?? '', port: 9 }, ...rest] }, secrets))
    await until('the third one', () => acknowledged().get('web-1')?.generation === 3)
    expect(applied).toEqual([1000, 2000, 9])
  })

  it('ends the work on a configuration when a newer one comes', async () => {
    write(objectsOf(80, 1))
    await start()
    await until('the first one', () => acknowledged().get('web-1')?.generation === 1)
    slow.add(81)
    write(objectsOf(81, 2))
    await until('work on the second one', () => begun.includes(81))
    write(objectsOf(82, 3))
    await until('the third one', () => acknowledged().get('web-1')?.generation === 3)
    expect(applied).toEqual([80, 82])
    expect(acknowledged().get('web-1')?.rejected).toBeUndefined()
  })

  it('waits for the endpoints of new Services, which another watch brings', async () => {
    const delivery = new TestDelivery()
    const secrets = { version: 1 as const, secrets: [] }
    const configOf = (port: number): RenderedConfig => ({
      ...emptyConfig(),
      binds: [{ key: `${port}/shop/web`, port }],
      services: [{ name: `s${port}`, namespace: 'shop', hostname: `s${port}`, ports: [] }],
    })
    write(delivery.writes(configOf(80), secrets))
    await start()
    await until('the first one', () => applied.length === 1)
    const next = delivery.writes(configOf(81), secrets)
    expect(next.map(({ name }) => name)).toEqual(['web-endpoints', 'web-config'])
    lines.length = 0
    write(next.slice(1))
    await until('a look', () => lines.some((line) => line.includes('delivery is incomplete')))
    expect(applied).toEqual([80])
    write(next.slice(0, 1))
    await until('the second one', () => applied.length === 2)
    expect(applied).toEqual([80, 81])
  })

  it('follows the API server and reports the configuration in force', async () => {
    write(objectsOf(80, 1))
    await start()
    await until('the first one', () => acknowledged().get('web-1')?.generation === 1)
    write(objectsOf(81, 2))
    await until('the second one', () => acknowledged().get('web-1')?.generation === 2)
    expect(applied).toEqual([80, 81])
    expect(secretsSeen).toEqual(['secret of 80', 'secret of 81'])
    await source?.stop()
    source = undefined
    expect(acknowledged().has('web-1')).toBe(false)
  })

  it('reports which key sets lack keys, next to the configuration in force', async () => {
    write(objectsOf(80, 1))
    await start()
    await until('the first one', () => acknowledged().get('web-1')?.generation === 1)
    for (let turn = 0; turn < 3; turn++) source?.unknownKey('idp')
    await until('the word', () => acknowledged().get('web-1')?.unknownKeys !== undefined)
    expect(acknowledged().get('web-1')).toMatchObject({ generation: 1, unknownKeys: { [keySetId('idp')]: 1 } })
    write(objectsOf(81, 2))
    await until('the second one', () => acknowledged().get('web-1')?.generation === 2)
    expect(acknowledged().get('web-1')?.unknownKeys).toEqual({ [keySetId('idp')]: 1 })
  })

  it('reports why there is no certificate of the mesh, next to the configuration in force, and its end', async () => {
    write(objectsOf(80, 1))
    await start()
    await until('the first one', () => acknowledged().get('web-1')?.generation === 1)
    source?.meshTrouble('down'.repeat(1000))
    await until('the trouble', () => acknowledged().get('web-1')?.meshTrouble !== undefined)
    expect(acknowledged().get('web-1')).toMatchObject({ generation: 1, meshTrouble: 'down'.repeat(128) })
    source?.meshTrouble(undefined)
    await until('the end', () => acknowledged().get('web-1')?.meshTrouble === undefined)
    expect(acknowledged().get('web-1')).toMatchObject({ generation: 1 })
  })

  it('never applies a mixture: an incomplete delivery waits for its rest', async () => {
    write(objectsOf(80, 1))
    await start()
    await until('the first one', () => applied.length === 1)
    const next = objectsOf(81, 2)
    write(next.slice(-1))
    lines.length = 0
    await until('some looks', () => lines.filter((line) => line.includes('delivery is incomplete')).length > 3)
    expect(applied).toEqual([80])
    write(next)
    await until('the second one', () => applied.length === 2)
    expect(secretsSeen).toEqual(['secret of 80', 'secret of 81'])
  })

  it('reads further shards if the index names them', async () => {
    const objects = objectsOf(80, 1, noise(9, 900_000))
    expect(objects.length).toBeGreaterThan(3)
    await start()
    write(keepingPrevious(objects, new Map()))
    await until('the large one', () => applied.length === 1)
  })

  it('keeps the previous configuration and reports why the next was rejected', async () => {
    write(objectsOf(80, 1))
    await start()
    await until('the first one', () => acknowledged().get('web-1')?.generation === 1)
    refuse = 81
    write(objectsOf(81, 2))
    await until('the refusal', () => acknowledged().get('web-1')?.rejected?.message === 'no such port')
    expect(acknowledged().get('web-1')).toMatchObject({ generation: 1, rejected: { generation: 2 } })
    refuse = undefined
    write(objectsOf(82, 3))
    await until('the third one', () => acknowledged().get('web-1')?.generation === 3)
    expect(acknowledged().get('web-1')?.rejected).toBeUndefined()
  })

  it('continues after dropped watches, compaction, and a server that fails for a while', async () => {
    write(objectsOf(80, 1))
    await start()
    await until('the first one', () => applied.includes(80))
    let failures = 5
    kube.fault = () => (failures-- > 0 ? { kind: 'status', status: 500 } : undefined)
    kube.store.compact()
    kube.dropWatches()
    write(objectsOf(81, 2))
    await until('the second one', () => acknowledged().get('web-1')?.generation === 2)
    expect(applied).toEqual([80, 81])
  })

  it('does not apply again if only the number of the delivery changed', async () => {
    write(objectsOf(80, 1))
    await start()
    await until('the first one', () => acknowledged().get('web-1')?.generation === 1)
    write(objectsOf(80, 2))
    await until('the word on the second one', () => acknowledged().get('web-1')?.generation === 2)
    expect(applied).toEqual([80])
  })
})
