// `/debug/route` of a real proxy: the router's decision with the reasons of all other rules.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { components } from '#api/admin/types.gen.ts'
import type { RenderedConfig, RouteMatch } from '#api/ir/types.gen.ts'
import { freePort } from '#test/ports.ts'
import { answering, NO_SECRETS } from '../runtime/config.testing.ts'
import { startTestProxy, stopTestProxies, type TestProxy } from '../runtime/start.testing.ts'

type Explanation = components['schemas']['RouteExplanation']

let proxy: TestProxy
let port: number

/** `hostnames`: empty for all hosts. */
function rule(name: string, match: RouteMatch, hostnames: readonly string[] = []): RenderedConfig['routes'][number] {
  return {
    key: `shop/${name}.00.http-${port}`,
    listenerKey: `infra/edge.http-${port}`,
    name: { kind: 'HTTPRoute', namespace: 'shop', name, ruleName: `rule-${name}` },
    hostnames: [...hostnames],
    matches: [match],
    backends: [],
    inlinePolicies: { directResponse: { status: 200, body: name } },
  }
}

beforeAll(async () => {
  port = await freePort()
  proxy = await startTestProxy()
  const config = answering([port], 'all')
  await proxy.proxy.apply(
    {
      ...config,
      routes: [
        ...config.routes,
        rule('post', { path: { exact: '/a' }, method: 'POST' }),
        rule('tenant', { path: { pathPrefix: '/a' }, headers: [{ name: 'x-tenant', value: { exact: 'core' } }] }),
        rule('page', { path: { pathPrefix: '/a' }, query: [{ name: 'page', value: { regex: '[0-9]+' } }] }),
        rule('other', {}, ['other.example']),
      ],
    },
    NO_SECRETS,
  )
})

afterAll(() => stopTestProxies())

async function explain(parameters: readonly (readonly [string, string])[]): Promise<Explanation> {
  const text = await proxy.text(
    'admin',
    `/debug/route?${new URLSearchParams(parameters.map(([...one]) => one)).toString()}`,
  )
  return JSON.parse(text) as Explanation // api/admin/openapi.yaml
}

function results({ candidates }: Explanation): string[] {
  return candidates.map(({ name, result, failedCondition }) => `${name}: ${failedCondition ?? result}`)
}

describe('/debug/route', () => {
  it('returns the rule that serves the request, and the first condition of each other rule that fails', async () => {
    const url = `http://localhost:${port}/a/b?page=12`
    const explanation = await explain([['url', url]])
    expect(await (await fetch(url)).text()).toBe('page')
    expect(explanation.listeners).toEqual([
      { key: `infra/edge.http-${port}`, name: `http-${port}`, result: 'selected' },
    ])
    expect(results(explanation)).toEqual([
      'post: path exactly /a',
      'tenant: header x-tenant: exactly "core"',
      'page: selected',
      'all: outranked',
      'other: host other.example',
    ])
    expect(explanation.candidates[2]?.match).toBe(
      'path prefix /a, query parameter page: all of "[0-9]+" (regular expression)',
    )
  })

  it('reads method and header fields', async () => {
    const post = await explain([
      ['url', `http://localhost:${port}/a`],
      ['method', 'POST'],
    ])
    expect(results(post)[0]).toBe('post: selected')
    const tenant = await explain([
      ['url', `http://localhost:${port}/a`],
      ['header', 'X-Tenant: core'],
    ])
    expect(results(tenant).slice(0, 2)).toEqual(['post: method POST', 'tenant: selected'])
    const host = await explain([
      ['url', `http://localhost/a`],
      ['port', String(port)],
      ['header', 'Host: other.example'],
    ])
    expect(results(host)[0]).toBe('other: selected')
  })

  it('reports a port without listeners', async () => {
    expect(await explain([['url', 'http://localhost:9/a']])).toEqual({
      listeners: [],
      candidates: [],
      omitted: 0,
      failure: 'listener not found',
    })
  })

  it.each([
    ['url=/a', 'url: must be an absolute URL with http or https'],
    ['url=file:///etc/passwd', 'url: must be an absolute URL with http or https'],
    ['url=http://a/&port=0', 'port: must be 1 to 65535'],
    ['url=http://a/&method=G%20T', 'method: must be a method of HTTP'],
    ['url=http://a/&header=a', 'header[0]: must be `name: value`'],
    ['url=http://a/&header=host:%20a%2Fb', 'header: host must be a host name with an optional port'],
    [`url=http://a/${'&header=a:1'.repeat(65)}`, 'header: at most 64'],
  ])('rejects %s', async (query, problem) => {
    const response = await fetch(`http://127.0.0.1:${proxy.proxy.ports.admin}/debug/route?${query}`)
    expect([response.status, await response.text()]).toEqual([400, `${problem}\n`])
  })

  it('does not answer pages of other sites', async () => {
    const url = `http://127.0.0.1:${proxy.proxy.ports.admin}/debug/route?url=http://a/`
    expect((await fetch(url, { headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(403)
  })
})
