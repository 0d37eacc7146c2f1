// Variables of the environment for exported spans: which one counts, what is refused, and that no value is repeated.
import { describe, expect, it } from 'vitest'
import { resolveSettings, type Environment } from '../runtime/settings.ts'
import { shownOtlp } from './environment.ts'

const otlpOf = (environment: Environment) => resolveSettings({}, environment).settings.otlp
const problemsOf = (environment: Environment): string[] =>
  resolveSettings({}, environment).problems.map(({ path, message }) => `${path}: ${message}`)

const ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT'
const TRACES = 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'

describe('otlpEnvironment', () => {
  it('has no collector unless there is an endpoint', () => {
    expect(otlpOf({ OTEL_EXPORTER_OTLP_HEADERS: 'a=b', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }).traces).toBeUndefined()
  })

  it.each<[Environment, object]>([
    [{ [ENDPOINT]: 'http://c:4317' }, { host: 'c', port: 4317, isTls: false, protocol: 'GRPC', headers: [] }],
    [{ [ENDPOINT]: 'https://c' }, { port: 443, isTls: true }],
    [{ [ENDPOINT]: 'http://[::1]:4318/base/', OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' }, { host: '::1', path: '/base/v1/traces', protocol: 'HTTP' }],
    [{ [TRACES]: 'http://c:4318/mine', OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http' }, { path: '/mine' }],
    [{ [TRACES]: 'http://c:4318' }, { path: '/v1/traces' }],
    [{ [ENDPOINT]: 'http://general', [TRACES]: 'http://traces' }, { host: 'traces' }],
    [{ [TRACES]: 'http://traces', OTLP_ENDPOINT: 'http://own' }, { host: 'own' }],
    [{ OTLP_ENDPOINT: 'http://own', GW_OTLP_ENDPOINT: 'http://prefixed' }, { host: 'prefixed' }],
    [{ [ENDPOINT]: 'http://c', OTEL_EXPORTER_OTLP_TIMEOUT: '250' }, { timeoutMs: 250 }],
    [{ [ENDPOINT]: 'http://c', OTLP_HEADERS: 'Api-Key=a%3Db, x = 1' }, { headers: [['api-key', 'a=b'], ['x', '1']] }],
    [{ [ENDPOINT]: 'http://c', OTLP_HEADERS: '{"Authorization":"Bearer x"}' }, { headers: [['authorization', 'Bearer x']] }],
  ])('%j', (environment, wanted) => {
    expect(problemsOf(environment)).toEqual([])
    expect(otlpOf(environment).traces).toMatchObject(wanted)
  }) // prettier-ignore

  it('has the delay of batches, for each signal', () => {
    expect(otlpOf({}).batchDelayMs).toEqual({ traces: undefined, logs: undefined })
    const environment = { OTEL_BSP_SCHEDULE_DELAY: '200', GW_OTEL_BLRP_SCHEDULE_DELAY: '1' }
    expect(otlpOf(environment).batchDelayMs).toEqual({ traces: 200, logs: 1 })
  })

  it.each<[Environment, number]>([
    [{}, 0],
    [{ OTEL_TRACES_SAMPLER: 'always_on' }, 1],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_always_off' }, 0],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' }, 0.25],
    [{ OTEL_TRACES_SAMPLER: 'traceidratio' }, 1],
  ])('samples with %j', (environment, share) => {
    expect(problemsOf(environment)).toEqual([])
    expect(otlpOf(environment).randomShare).toBe(share)
  })

  it.each<[Environment, string]>([
    [{ [ENDPOINT]: 'planted:4317' }, ENDPOINT],
    [{ [ENDPOINT]: 'http://user:planted@c' }, ENDPOINT],
    [{ GW_OTLP_ENDPOINT: 'ftp://planted' }, 'GW_OTLP_ENDPOINT'],
    [{ [ENDPOINT]: 'http://c', OTLP_PROTOCOL: 'planted' }, 'OTLP_PROTOCOL'],
    [{ [ENDPOINT]: 'http://c', OTLP_HEADERS: 'planted' }, 'OTLP_HEADERS'],
    [{ [ENDPOINT]: 'http://c', OTLP_HEADERS: 'a b=planted' }, 'OTLP_HEADERS'],
    [{ [ENDPOINT]: 'http://c', OTLP_HEADERS: 'a=planted%0d%0ab' }, 'OTLP_HEADERS'],
    [{ [ENDPOINT]: 'http://c', OTLP_HEADERS: '{"a":"planted"' }, 'OTLP_HEADERS'],
    [{ [ENDPOINT]: 'http://c', OTLP_HEADERS: '{"a":1}' }, 'OTLP_HEADERS'],
    [{ [ENDPOINT]: 'http://c', OTEL_EXPORTER_OTLP_TIMEOUT: 'planted' }, 'OTEL_EXPORTER_OTLP_TIMEOUT'],
    [{ OTEL_BSP_SCHEDULE_DELAY: '0' }, 'OTEL_BSP_SCHEDULE_DELAY'],
    [{ OTEL_BLRP_SCHEDULE_DELAY: 'planted' }, 'OTEL_BLRP_SCHEDULE_DELAY'],
    [{ OTEL_TRACES_SAMPLER: 'planted' }, 'OTEL_TRACES_SAMPLER'],
    [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' }, 'OTEL_TRACES_SAMPLER_ARG'],
    [{ OTEL_RESOURCE_ATTRIBUTES: 'planted' }, 'OTEL_RESOURCE_ATTRIBUTES'],
  ])('refuses %j without repeating it', (environment, name) => {
    const [problem = '', ...others] = problemsOf(environment)
    expect(problem).toMatch(new RegExp(`^${name}: the environment variable must be `))
    expect(problem).not.toContain('planted')
    expect(others).toEqual([])
  })

  it('shows no header', () => {
    const shown = JSON.stringify(shownOtlp(otlpOf({ [ENDPOINT]: 'http://c', OTLP_HEADERS: 'api-key=planted' })))
    expect(shown).toContain('["api-key","<redacted>"]')
    expect(shown).not.toContain('planted')
  })
})
