import { describe, expect, it } from 'vitest'
import { runAll } from '#api/incremental/steps.ts'
import { emptyConfig } from '#api/ir/empty.ts'
import type {
  Backend,
  FrontendPayload,
  MCPBackend,
  Policy,
  PolicyPayload,
  RateLimitGlobal,
  RenderedConfig,
  Route,
} from '#api/ir/types.gen.ts'
import { MCP_GUARDRAILS } from '../mcp/guardrails/late-guardrails.ts'
import { OTLP } from '../otlp/late-otlp.ts'
import { SERVICE_POLICIES } from '../policy/service-policies.ts'
import { GRPC, LLM, MCP, NeededParts } from './parts.ts'

const service = { backend: 'ns/service' }
const extAuth = { service, failureMode: 'FailClosed' } as const
const extProc = { service, failureMode: 'FailClosed' } as const
const rateLimitGlobal: RateLimitGlobal = { service, failureMode: 'FailClosed', domain: 'd', descriptors: [] }
const inferenceRouting = { picker: service, failureMode: 'FailClosed' } as const

function withPolicy(policy: PolicyPayload): Partial<RenderedConfig> {
  const name = { kind: 'GwPolicy', namespace: 'ns', name: 'p' }
  const item: Policy = { key: 'p', name, target: { gateway: { namespace: 'ns', name: 'gw' } }, policy }
  return { policies: [item] }
}

function withRoute(part: Partial<Route>): Partial<RenderedConfig> {
  const name = { kind: 'HTTPRoute', namespace: 'ns', name: 'r' } as const
  return { routes: [{ key: 'r', name, listenerKey: 'l', hostnames: [], matches: [], backends: [], ...part }] }
}

function withBackend(part: Partial<Backend>): Partial<RenderedConfig> {
  return { backends: [{ key: 'b', name: { namespace: 'ns', name: 'b' }, ...part }] }
}

const partsOf = (part: Partial<RenderedConfig>, needed = new NeededParts({ traces: undefined })) =>
  runAll(needed.stepsOf({ ...emptyConfig(), ...part }))

describe('the parts for a configuration', () => {
  it('are not needed by plain routes and policies', () => {
    const cors = withPolicy({ traffic: { cors: {} }, frontend: { accessLog: {} }, backend: { cors: {} } })
    expect(partsOf({ ...withRoute({}), ...withBackend({}), ...cors })).toEqual([])
  })

  it.each<[string, Partial<RenderedConfig>]>([
    ['extAuth of a policy', withPolicy({ traffic: { extAuth } })],
    ['extProc of a policy', withPolicy({ traffic: { extProc } })],
    ['rateLimitGlobal of a policy', withPolicy({ traffic: { rateLimitGlobal } })],
    ['conditional extAuth', withPolicy({ traffic: { extAuth: { conditional: [{ policy: extAuth }] } } })],
    ['extAuth for a backend', withPolicy({ backend: { extAuth } })],
    ['inferenceRouting for a backend', withPolicy({ backend: { inferenceRouting } })],
    ['extProc of a route', withRoute({ inlinePolicies: { extProc } })],
    [
      'extAuth of a backend of a route',
      withRoute({ backends: [{ ref: service, weight: 1, inlinePolicies: { extAuth } }] }),
    ],
    ['inferenceRouting of a backend', withBackend({ inlinePolicies: { inferenceRouting } })],
  ])('are those that call services, for %s', (_, config) => {
    expect(partsOf(config)).toEqual([SERVICE_POLICIES, GRPC])
  })

  it.each<[string, FrontendPayload]>([
    ['traces', { tracing: { target: { service, protocol: 'GRPC' } } }],
    ['an access log', { accessLog: { otlp: { target: { service, protocol: 'HTTP' } } } }],
  ])('are those for OTLP, if a policy exports %s', (_, frontend) => {
    expect(partsOf(withPolicy({ frontend }))).toEqual([OTLP, GRPC])
  })

  it('are those for OTLP, if the environment names a collector', () => {
    const traces = { host: 'h', port: 1, isTls: false, headers: [], timeoutMs: undefined, protocol: 'GRPC', path: '/' }
    expect(partsOf({}, new NeededParts({ traces: { ...traces, protocol: 'GRPC' } }))).toEqual([OTLP, GRPC])
  })

  it('are those for guardrails of MCP, at each place of a policy', () => {
    const backend = { mcpGuardrails: { processors: [{ service, failureMode: 'FailClosed' as const, methods: [] }] } }
    const places = [
      withPolicy({ backend }),
      withBackend({ inlinePolicies: backend }),
      withRoute({ backends: [{ ref: service, weight: 1, inlinePolicies: backend }] }),
    ]
    for (const place of places) expect(partsOf(place)).toEqual([MCP_GUARDRAILS, GRPC])
  })

  it('are those of models and of MCP servers', () => {
    const openai = { name: 'p', provider: { openai: {} } }
    const mcp: MCPBackend = { targets: [], sessionRouting: 'Stateful', prefixMode: 'Never', failureMode: 'FailClosed' }
    expect(partsOf(withBackend({ ai: { groups: [{ providers: [openai] }] } }))).toEqual([LLM])
    expect(
      partsOf(withBackend({ ai: { groups: [{ providers: [{ ...openai, inlinePolicies: { extAuth } }] }] } })),
    ).toEqual([LLM, SERVICE_POLICIES, GRPC])
    expect(partsOf(withBackend({ mcp }))).toEqual([MCP])
  })

  it('stay needed, and are looked for only in items that the configuration before did not have', () => {
    const needed = new NeededParts({ traces: undefined })
    const read: string[] = []
    const watched = (key: string, part: Partial<Route>): Route[] =>
      (withRoute(part).routes ?? []).map((route) => ({
        ...route,
        key,
        get inlinePolicies() {
          read.push(key)
          return part.inlinePolicies ?? {}
        },
      }))
    const [one, two] = [watched('one', {}), watched('two', { inlinePolicies: { extProc } })]
    expect(partsOf({ routes: one }, needed)).toEqual([])
    expect(partsOf({ routes: [...one, ...two] }, needed)).toEqual([SERVICE_POLICIES, GRPC])
    expect(partsOf({ routes: [...one] }, needed)).toEqual([SERVICE_POLICIES, GRPC])
    expect(read).toEqual(['one', 'two'])
  })
})
