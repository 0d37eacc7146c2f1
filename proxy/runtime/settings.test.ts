import { describe, expect, it } from 'vitest'
import { resolveSettings } from './settings.ts'

const KEY = 'ab'.repeat(32)

describe('resolveSettings', () => {
  it('takes options before the environment and the environment before defaults', () => {
    const environment = { GW_WORKER_THREADS: '3', CPU_LIMIT: '7', GW_LOG_FORMAT: 'json', STATS_ADDR: '[::1]:9' }
    const { settings, problems } = resolveSettings({ logFormat: 'text', workers: undefined }, environment)
    expect(problems).toEqual([])
    expect(settings).toMatchObject({
      workers: 3,
      logFormat: 'text',
      stats: { host: '::1', port: 9 },
      admin: { host: 'localhost', port: 15_000 },
      readiness: { port: 15_021 },
      logLevel: 'info',
      accessLog: true,
      sessionKeys: undefined,
      drain: { minMs: 0, maxMs: 5000 },
      workerHangMs: 15_000,
      bodyIdleTimeoutMs: 30_000,
      overload: { lagMs: 1000, memoryShare: 0.95 },
    })
  })

  it('takes 0 as no limit for bodies', () => {
    expect(resolveSettings({}, { GW_BODY_IDLE_TIMEOUT: '0' }).settings.bodyIdleTimeoutMs).toBe(Infinity)
    expect(resolveSettings({}, { BODY_IDLE_TIMEOUT: '5s' }).settings.bodyIdleTimeoutMs).toBe(5000)
  })

  it.each([
    [{ CPU_LIMIT: '2' }, 2],
    [{ CPU_LIMIT: '2', GW_CPU_LIMIT: '5' }, 5],
    [{ CPU_LIMIT: '1000' }, 64],
  ])('%j gives %i workers', (environment, workers) => {
    expect(resolveSettings({}, environment).settings.workers).toBe(workers)
  })

  it.each([
    [{ TERMINATION_GRACE_PERIOD_SECONDS: '60', CONNECTION_MIN_TERMINATION_DEADLINE: '10s' }, 10_000, 55_000],
    [{ TERMINATION_GRACE_PERIOD_SECONDS: '10' }, 0, 9000],
    [{ TERMINATION_GRACE_PERIOD_SECONDS: '1' }, 0, 1000],
    [{ CONNECTION_TERMINATION_DEADLINE: '500ms' }, 0, 500],
    [{ CONNECTION_TERMINATION_DEADLINE: '1s', CONNECTION_MIN_TERMINATION_DEADLINE: '2m' }, 120_000, 120_000],
  ])('%j drains from %i to %i ms', (environment, minMs, maxMs) => {
    expect(resolveSettings({}, environment).settings.drain).toEqual({ minMs, maxMs })
  })

  it('reads what backends may reach in spite of the guard, and no variable switches it off', () => {
    const given = {
      BACKEND_ALLOW_ADDRESSES: '127.0.0.1, fd00::/8',
      GW_BACKEND_ALLOW_UNIX_PATHS: '/run/app,/run/b.sock',
    }
    const { settings, problems } = resolveSettings({ servesTenants: true }, { ...given, GW_SERVES_TENANTS: 'false' })
    expect(problems).toEqual([])
    expect(settings.servesTenants).toBe(true)
    const unixPaths = ['/run/app', '/run/b.sock']
    expect(settings.backendAllow).toEqual({ addresses: ['127.0.0.1', 'fd00::/8'], unixPaths })
    expect(resolveSettings({}, {}).settings.backendAllow).toEqual({ addresses: [], unixPaths: [] })
  })

  it.each([
    ['BACKEND_ALLOW_ADDRESSES', 'localhost'],
    ['BACKEND_ALLOW_ADDRESSES', 'fe80::1%eth0'],
    ['BACKEND_ALLOW_UNIX_PATHS', '/'],
    ['BACKEND_ALLOW_UNIX_PATHS', 'run/app'],
    ['BACKEND_ALLOW_UNIX_PATHS', '/run/../etc'],
  ])('refuses %s=%s', (name, value) => {
    expect(resolveSettings({}, { [name]: value }).problems.map(({ path }) => path)).toEqual([name])
  })

  it.each([
    [{}, 'V4_PREFERRED'],
    [{ DNS_LOOKUP_FAMILY: 'V6_ONLY' }, 'V6_ONLY'],
  ])('%j uses the addresses %s', (environment, family) => {
    expect(resolveSettings({}, environment).settings.dnsLookupFamily).toBe(family)
  })

  it.each<[Readonly<Record<string, string>>, object]>([
    [{}, {}],
    [
      { LOCALITY: 'r', NODE_NAME: 'n', CLUSTER_ID: 'c', NETWORK: 'net' },
      { region: 'r', node: 'n', cluster: 'c', network: 'net' },
    ],
    [{ LOCALITY: '/z' }, { zone: 'z' }],
    [
      { GW_LOCALITY: 'r/z/s', LOCALITY: 'x' },
      { region: 'r', zone: 'z', subzone: 's' },
    ],
    [{ LOCALITY: 'r//s' }, { region: 'r', subzone: 's' }],
  ])('%j says where it is', (environment, place) => {
    expect(resolveSettings({}, environment).settings.place).toEqual(place)
  })

  it('reads the session key', () => {
    expect(resolveSettings({}, { SESSION_KEY: KEY }).settings.sessionKeys).toEqual([new Uint8Array(32).fill(0xab)])
  })

  it('reads a new session key and those before it', () => {
    const { settings } = resolveSettings({}, { SESSION_KEY: `${'cd'.repeat(32)}, ${KEY}` })
    expect(settings.sessionKeys?.map(([first]) => first)).toEqual([0xcd, 0xab])
  })

  it.each([
    ['GW_SESSION_KEY', `${KEY}0`],
    ['GW_SESSION_KEY', `${KEY},`],
    ['GW_SESSION_KEY', [KEY, KEY, KEY, KEY, KEY].join(',')],
    ['GW_SESSION_KEY', 'zz'.repeat(32)],
    ['WORKER_THREADS', '0'],
    ['WORKER_THREADS', '1.5'],
    ['ADMIN_ADDR', 'localhost'],
    ['ADMIN_ADDR', 'localhost:70000'],
    ['GW_LOG', 'loud'],
    ['ACCESS_LOG', 'maybe'],
    ['CONNECTION_TERMINATION_DEADLINE', 'soon'],
    ['WORKER_HANG_TIMEOUT', '-1s'],
    ['OVERLOAD_LAG', 'much'],
    ['BODY_IDLE_TIMEOUT', 'soon'],
    ['HTTP2_STREAM_WINDOW_SIZE', '65534'],
    ['HTTP2_CONNECTION_WINDOW_SIZE', '1Mi'],
    ['HTTP2_FRAME_SIZE', '16777216'],
    ['POOL_MAX_STREAMS_PER_CONNECTION', '0'],
    ['POOL_UNUSED_RELEASE_TIMEOUT', '25h'],
    ['OVERLOAD_MEMORY_PERCENT', '101'],
    ['DNS_LOOKUP_FAMILY', 'v4'],
    ['LOCALITY', 'a/b/c/d'],
    ['GW_LOCALITY', 'a / b'],
  ])('refuses %s=%s and does not print it', (name, value) => {
    const { problems } = resolveSettings({}, { [name]: value })
    expect(problems).toEqual([expect.objectContaining({ path: name, reason: 'InvalidEnvironment' })])
    if (name === 'GW_SESSION_KEY') expect(JSON.stringify(problems)).not.toContain(value)
  })

  it('refuses options that cannot work', () => {
    const { problems } = resolveSettings({ workers: 0, sessionKeys: [new Uint8Array(3)], logLevel: 'x=' }, {})
    expect(problems.map(({ path }) => path)).toEqual(['workers', 'sessionKeys', 'logLevel'])
  })
})
