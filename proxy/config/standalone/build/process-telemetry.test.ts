// Places of `config` for traces, log entries and labels. Their rendered form: testdata/process-telemetry.in.yaml.
import { describe, expect, it } from 'vitest'
import { loadStandalone } from '../load.ts'

const GATEWAY = 'gateways: { default: { port: 8080 } }\n'

function load(text: string) {
  return loadStandalone({ path: 'f.yaml', text: GATEWAY + text, environment: {} })
}

function tracingOf(text: string): unknown {
  const { rendered } = load(`config: { tracing: ${text} }`)
  const target = rendered?.config.policies.find(({ policy }) => policy.frontend?.tracing)?.policy.frontend?.tracing
  const service = rendered?.config.backends.find(({ key }) => key === target?.target.service.backend)
  return { protocol: target?.target.protocol, path: target?.target.path, address: service?.static }
}

describe('telemetry in config', () => {
  it.each([
    ['{ otlpEndpoint: "http://c:4317" }', 'GRPC', undefined, 4317],
    ['{ otlpEndpoint: "http://c:4318/v1/traces" }', 'HTTP', '/v1/traces', 4318],
    ['{ otlpEndpoint: "http://c:4318/other", path: /v1/traces }', 'HTTP', '/v1/traces', 4318],
    ['{ otlpEndpoint: "http://c:4318", otlpProtocol: http }', 'HTTP', undefined, 4318],
    ['{ otlpEndpoint: "http://c:4317/x", otlpProtocol: grpc }', 'GRPC', undefined, 4317],
  ])('sends traces of %s over %s', (text, protocol, path, port) => {
    expect(tracingOf(text)).toEqual({ protocol, path, address: { host: 'c', port } })
  })

  it.each([
    [
      'config: { tracing: { otlpEndpoint: "c:4317" } }',
      /config\.tracing\.otlpEndpoint: must be a URL with http or https/,
    ],
    ['config: { tracing: {} }', /config\.tracing\.otlpEndpoint: is required/],
    [
      'config: { logging: { filter: "true" } }\nfrontendPolicies: { accessLog: {} }',
      /config\.logging: has the same effect as frontendPolicies\.accessLog: remove one of them/,
    ],
    [
      'config: { metrics: { fields: { add: { a: "1" } } } }\nfrontendPolicies: { metrics: { add: { a: "1" } } }',
      /config\.metrics\.fields: has the same effect as frontendPolicies\.metrics/,
    ],
    ['config: { metrics: { remove: [a] } }', /config\.metrics\.remove: is not supported .*; leave out metrics/],
    ['config: { logging: { otlp: {} } }', /config\.logging\.otlp: .*; use frontendPolicies\.accessLog\.otlp/],
    [
      'frontendPolicies: { accessLog: { add: { a: "1" }, fields: {} } }',
      /frontendPolicies\.accessLog: must have add and remove either here or under fields/,
    ],
  ])('rejects %j', (text, problem) => {
    expect(load(text).problems.map(({ path, message }) => `${path}: ${message}`)).toEqual([
      expect.stringMatching(problem),
    ])
  })

  it('takes the format of the log from either place', () => {
    expect(load('frontendPolicies: { logging: { format: json } }').settings.logFormat).toBe('json')
    expect(load('config: { logging: { format: text } }').settings.logFormat).toBe('text')
  })

  it('keeps headers of the collector in the secrets', () => {
    const { rendered } = load('config: { tracing: { otlpEndpoint: "http://c:1", headers: { x-key: hidden } } }')
    expect(rendered?.secrets.secrets).toMatchObject([{ value: 'hidden' }])
    expect(JSON.stringify(rendered?.config)).not.toContain('hidden')
  })
})
