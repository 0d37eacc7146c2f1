// Metrics, fields of the access log and variables of expressions: compares the lists of the specification with the
// output of a real proxy for real requests.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { entryOf, startEverything, type Everything } from './everything.ts'
import { FIELDS, type Shown } from './expected-fields.ts'
import { OWN, SPECIFIED, WAITING, type ExpectedMetric } from './expected-metrics.ts'
import { VARIABLES } from './expected-variables.ts'
import type { components } from '#api/admin/types.gen.ts'
import { isRecord } from '#api/json.ts'
import { until } from '#test/wait.ts'
import { sendAll } from './requests.ts'
import { scraped } from './scrape.ts'

const DEADLINE_MS = 20_000
const PROTOBUF = 'application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited'

/** Metrics whose series exist only after an error. */
const MAY_BE_NONE: Readonly<Record<string, true>> = {
  gw_credentials_refused_total: true,
  gw_guardrail_checks_total: true,
  gw_guardrail_matches_total: true,
  gw_mcp_dropped_messages_total: true,
  gw_mcp_server_sessions_total: true,
  gw_mcp_changed_tools_total: true,
  gw_refused_requests_total: true,
  gw_tls_handshake_failures_total: true,
}

let all: Everything

/** Names of the fields with variables: the expression itself. */
const added = VARIABLES.map(([expression]) => ({ name: `cel:${expression}`, expression }))

beforeAll(async () => {
  all = await startEverything({ fields: added })
  await sendAll(all)
}, 60_000)

afterAll(() => all.stop())

async function shownIn(where: Shown): Promise<Readonly<Record<string, unknown>>> {
  return entryOf(all, `?seen=${where}`)
}

function sorted({ labels, ...rest }: ExpectedMetric): ExpectedMetric {
  return { ...rest, labels: [...labels].sort() }
}

describe('metrics', () => {
  let metrics: ReadonlyMap<string, ExpectedMetric>

  // Bytes of connections are counted a second later than their requests.
  beforeAll(() =>
    until('every metric has a series', async () => {
      metrics = scraped(await all.metrics())
      return Object.keys({ ...SPECIFIED, ...OWN }).every((name) => metrics.has(name) || name in MAY_BE_NONE)
    }),
  )

  it.each(Object.entries({ ...SPECIFIED, ...OWN }).filter(([name]) => !(name in MAY_BE_NONE)))('%s', (name, wanted) => {
    expect(metrics.get(name)).toEqual(sorted(wanted))
  })

  it('has no other metrics', () => {
    const known = new Set([...Object.keys(SPECIFIED), ...Object.keys(OWN)])
    expect([...metrics.keys()].filter((name) => !known.has(name))).toEqual([])
    expect(Object.keys(WAITING).filter((name) => metrics.has(name))).toEqual([])
  })

  it('counts what was fetched for backends, and the dump names the policy that needed it', async () => {
    // The keys of the environment, and those of the role.
    expect(await all.metrics()).toContain('gw_credentials_fetches_total{kind="cloudA",result="fetched"} 2')
    const dump = await (await fetch(`http://127.0.0.1:${all.proxy.ports.admin}/config_dump`)).json()
    const fetched = { kind: 'cloudA', usedBy: [expect.stringContaining('default/signed')], tokens: 1 }
    expect(dump).toMatchObject({ credentials: [fetched, fetched] })
  })

  it('counts connections to backends by protocol', async () => {
    const text = await all.metrics()
    expect(text).toMatch(/gw_upstream_connect_duration_seconds_count\{transport="plaintext"\} [1-9]/)
    expect(text).toMatch(/gw_upstream_connect_duration_seconds_count\{transport="tls"\} [1-9]/)
  })

  it('of connections have a duration and the labels of the policy, and do not count as requests', async () => {
    const lines = (await all.metrics()).split('\n').filter((line) => line.includes('protocol="tcp"'))
    const valuesOf = (name: string): number[] =>
      lines
        .filter((line) => line.startsWith(`${name}{`) && line.includes('team="unknown",port="true"'))
        .map((line) => Number(line.split(' ').at(-1)))
    expect(valuesOf('gw_request_duration_seconds_count')).toEqual([1])
    expect(valuesOf('gw_response_bytes_total')).toEqual([expect.any(Number)])
    expect(valuesOf('gw_requests_total').filter((count) => count !== 0)).toEqual([])
  })

  it.each(['http', 'https', 'tcp'])('counts bytes of %s', async (protocol) => {
    await vi.waitFor(
      async () => {
        const text = await all.metrics()
        const amount = (direction: string): number => {
          const lines = text
            .split('\n')
            .filter((one) => one.startsWith(`gw_downstream_${direction}_bytes_total{`))
            .filter((one) => one.includes('gateway="default/edge"') && one.includes(`protocol="${protocol}"`))
          return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
        }
        expect(amount('received')).toBeGreaterThan(40)
        expect(amount('sent')).toBeGreaterThan(40)
      },
      { timeout: DEADLINE_MS },
    )
  })

  it('also has the format of OpenMetrics', async () => {
    const text = await all.metrics('application/openmetrics-text')
    expect(text).toContain('# TYPE gw_requests counter\n')
    expect(text.endsWith('# EOF\n')).toBe(true)
  })
})

describe('the protobuf format', () => {
  it('has the same content as the text format', async () => {
    const text = await all.metrics()
    const url = `http://127.0.0.1:${all.proxy.ports.stats}/metrics`
    const answer = await fetch(url, { headers: { accept: `${PROTOBUF};q=0.6,text/plain;q=0.5` } })
    expect(answer.headers.get('content-type')).toContain('proto=io.prometheus.client.MetricFamily; encoding=delimited')
    const bytes = Buffer.from(await answer.arrayBuffer()).toString('latin1')
    const names = [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name = '']) => name)
    const withSeries = names.filter((name) => new RegExp(`^${name}(?:_count)?(?:\\{| )`, 'm').test(text))
    expect(withSeries.length).toBeGreaterThan(30)
    expect(withSeries.filter((name) => !bytes.includes(name))).toEqual([])
  })
})

describe('fields of the access log', () => {
  const seen = FIELDS.flatMap(([name, place]) => ('in' in place ? [[name, place.in] as const] : []))

  it.each(seen)('%s', async (name, where) => {
    expect((await shownIn(where))[name]).toBeDefined()
  })

  it('are exactly those of the list, in its order', async () => {
    const order = FIELDS.map(([name]) => name)
    for (const [, where] of seen) {
      const names = Object.keys(await shownIn(where)).filter((name) => !name.startsWith('cel:'))
      const own = names.filter((name) => !['level', 'time', 'scope'].includes(name))
      expect(own).toEqual(order.filter((name) => own.includes(name)))
    }
  })

  it('describe a connection whose bytes were forwarded', async () => {
    const entry = await vi.waitFor(
      () => {
        const found = all.log().find(({ protocol }) => protocol === 'tcp')
        if (found === undefined) throw new Error('no entry')
        return found
      },
      { timeout: DEADLINE_MS },
    )
    expect(entry).toMatchObject({ gateway: 'default/edge', listener: 'tcp', route: 'default/raw' })
    expect(entry).not.toHaveProperty('http.method')
  })

  it('distinguish embeddings from chats', async () => {
    expect((await shownIn('stream'))['gen_ai.operation.name']).toBe('chat')
    expect(await shownIn('embeddings')).toMatchObject({
      'gen_ai.operation.name': 'embeddings',
      'gen_ai.request.encoding_formats': 'float',
      'gen_ai.embeddings.dimension.count': 8,
    })
  })

  it('have one id for one request', async () => {
    const entry = await shownIn('sampled')
    expect(entry['request.id']).toBe(entry['trace.id'])
    expect((await shownIn('echo'))['request.id']).toMatch(/^[0-9a-f]{32}$/)
  })

  it('describe the call of an agent', async () => {
    expect(await shownIn('agent')).toMatchObject({
      'a2a.method': 'message/send',
      'a2a.response.outcome': 'success',
      'a2a.result.kind': 'task',
      'a2a.task.state': 'completed',
      'a2a.context.id': 'c-1',
    })
    expect(await shownIn('agentError')).toMatchObject({
      'a2a.method': 'tasks/get',
      'a2a.response.outcome': 'error',
      'a2a.response.error_code': -32001,
    })
  })
})

describe('/config_dump', () => {
  it('has the current values of endpoints for every kind of backend', async () => {
    const answer = await fetch(`http://127.0.0.1:${all.proxy.ports.admin}/config_dump`)
    // The contract of the endpoint.
    const { backends } = (await answer.json()) as components['schemas']['ConfigDump']
    const used = { health: expect.any(Number), totalRequests: expect.any(Number), evictedUntil: null }
    const named = (name: string): unknown =>
      backends.map(({ backend }) => Object.values(backend)[0]).find((one) => isRecord(one) && one['name'] === name)
    expect(named('echo')).toMatchObject({ info: used })
    expect(named('media')).toMatchObject({
      target: { providers: [{ active: { backend: { info: { ...used, totalRequests: 2 } } } }] },
    })
    expect(named('tools')).toMatchObject({ target: { targets: [{ name: 'demo', info: used }] } })
  })
})

describe('certificates', () => {
  it('are in the dump with their times, and have metrics', async () => {
    const dump = await fetch(`http://127.0.0.1:${all.proxy.ports.admin}/config_dump`)
    // The contract of the endpoint.
    const { certificates } = (await dump.json()) as components['schemas']['ConfigDump']
    const server = certificates.find(({ use }) => use === 'server')
    expect(server).toMatchObject({ state: 'valid', notAfter: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) })
    expect(certificates.map(({ use }) => use)).toContain('client_authorities')
    const metrics = await fetch(`http://127.0.0.1:${all.proxy.ports.stats}/metrics`)
    const labels = `use="server",owner="${server?.owner}",secret="${server?.secret}"`
    expect(await metrics.text()).toContain(
      `gw_certificate_expiration_timestamp_seconds{${labels}} ${Date.parse(server?.notAfter ?? '') / 1000}\n`,
    )
  })
})

describe('variables of expressions', () => {
  it.each(VARIABLES.flatMap(([name, place]) => ('in' in place ? [[name, place.in] as const] : [])))(
    '%s',
    async (name, where) => {
      expect((await shownIn(where))[`cel:${name}`]).toBeDefined()
    },
  )

  it('of missing features do not exist yet', async () => {
    const waiting = VARIABLES.filter(([, place]) => 'waitsFor' in place && !place.waitsFor.startsWith('nothing'))
    for (const where of ['stream', 'tool'] as const) {
      const entry = await shownIn(where)
      expect(waiting.map(([name]) => name).filter((name) => `cel:${name}` in entry)).toEqual([])
    }
  })

  it('have the values of the request', async () => {
    const [echo, agent] = [await shownIn('echo'), await shownIn('agent')]
    expect(echo).toMatchObject({
      'cel:backend.type': 'static',
      'cel:response.code': 200,
      'cel:proxy.route.rule': 'echo',
    })
    expect(JSON.parse(String(agent['cel:string(request.body)']))).toMatchObject({ method: 'message/send' })
    expect(JSON.parse(String(echo['cel:string(response.body)']))).toMatchObject({ server: 'echo' })
    const time = (name: string): number => Date.parse(String(echo[`cel:request.${name}`]))
    expect(time('endTime')).toBeGreaterThanOrEqual(time('startTime'))
  })
})
