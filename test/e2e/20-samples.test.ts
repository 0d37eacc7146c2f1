// Every theme of config/samples, tested with traffic.
import { existsSync, readdirSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import { callGrpc, send, talkTcp, until } from './suite/client.ts'
import { get, kubectl, list, remove, waitFor } from './suite/kubectl.ts'
import { NAMESPACE, programmed, proxyCount, sample, serviceOf, themeFile, useSample } from './suite/samples.ts'

const THEMES = ['http', 'tls', 'grpc', 'tcp', 'auth', 'rate-limit', 'llm', 'mcp', 'parameters', 'delegation']

let used = ''

async function use(theme: string): Promise<string> {
  used = theme
  await useSample(theme)
  return serviceOf(theme)
}

afterEach(async () => {
  if (used !== '') await remove(themeFile(used))
  used = ''
})

describe('samples', () => {
  it('has a case for every folder', () => {
    const themes = readdirSync(sample()).filter((name) => existsSync(sample(name, '00-backends.yaml')))
    expect(themes.sort()).toEqual([...THEMES].sort())
  })

  it('http: one command applies it, and its address answers', async ({ skip }) => {
    skip(
      (process.env['GW_E2E_CLUSTER'] ?? '') === '',
      'only in a cluster of kind: the image of the samples is loaded there',
    )
    used = 'http'
    await kubectl(['apply', '-f', sample('http')])
    const gateway = await programmed('http')
    const [address] = (gateway.status?.['addresses'] ?? []) as readonly { value: string }[] // as the Gateway API has it
    expect(address?.value).toEqual(expect.any(String))
    await until({ url: `http://${address?.value}/api/users`, host: 'www.example.com' }, { status: 200 })
  })

  it('http: rewrites, sets headers, redirects, and answers 404 for other hosts', async () => {
    const address = await use('http')
    const host = 'www.example.com'
    const echoed = await until({ url: `http://${address}/api/users?x=1`, host }, { status: 200 })
    expect(JSON.parse(echoed.body ?? '')).toMatchObject({ path: '/v1/users?x=1', headers: { host, 'x-from': 'gw' } })
    // Each server of names of the cluster knows a new Service at another time.
    const redirect = await until({ url: `http://${address}/old/page`, host }, { status: 301 })
    expect(redirect.headers?.['location']).toBe('http://www.example.com/new/page')
    await until({ url: `http://${address}/api/users`, host: 'other.example.com' }, { status: 404 })
  })

  it('http: answers on the node port too', async () => {
    const address = await use('http')
    await until({ url: `http://${address}/`, host: 'www.example.com' }, { status: 200 })
    const service = await get('service', NAMESPACE, 'http')
    const [port] = (service?.spec?.['ports'] ?? []) as readonly { nodePort: number }[] // as Kubernetes has it
    expect(port?.nodePort).toBeGreaterThan(0)
    for (const node of await list('nodes')) {
      const addresses = (node.status?.['addresses'] ?? []) as readonly { type: string; address: string }[]
      const ip = addresses.find(({ type }) => type === 'InternalIP')?.address ?? ''
      await until({ url: `http://${ip}:${port?.nodePort}/`, host: 'www.example.com' }, { status: 200 })
    }
  })

  it('tls: serves the certificate of the Secret only for its name', async () => {
    const address = await use('tls')
    const host = 'shop.example.com'
    const answer = await until({ url: `https://${address}/`, host, serverName: host }, { status: 200 })
    expect(answer.certificate).toMatch(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/)
    expect((await send({ url: `https://${address}/`, host, serverName: 'other.example.com' })).error).toBeDefined()
  })

  it('grpc: forwards calls of the service, rejects others', async () => {
    const address = await use('grpc')
    const question = { url: `http://${address}`, authority: 'grpc.example.com', message: 'hello' }
    const answered = await waitFor('an answer to the call', async () => {
      const answer = await callGrpc({ ...question, path: '/demo.Echo/Say' })
      return answer.status === '0' ? answer : undefined
    })
    expect(answered).toMatchObject({ status: '0', message: 'hello' })
    expect((await callGrpc({ ...question, path: '/demo.Other/Say' })).status).toBe('12')
  })

  it('tcp: forwards bytes in both directions', async () => {
    const host = await use('tcp')
    const heard = await waitFor('the bytes to come back', async () => {
      const { received } = await talkTcp({ host, port: 9000, send: 'over and out' })
      return received
    })
    expect(heard).toMatch(/^pod demo-.*\nover and out$/)
  })

  it('auth: requires a key, and allows writers to write', async () => {
    const url = `http://${await use('auth')}/`
    const withKey = (key: string, method = 'GET'): Promise<number | undefined> =>
      send({ url, method, headers: { authorization: `Bearer ${key}` } }).then(({ status }) => status)
    await until({ url, headers: { authorization: 'Bearer bob-key' } }, { status: 200 })
    expect((await send({ url })).status).toBe(401)
    expect(await withKey('no-key')).toBe(401)
    expect(await withKey('bob-key', 'POST')).toBe(403)
    expect(await withKey('alice-key', 'POST')).toBe(200)
  })

  it('rate-limit: accepts five requests a minute, and does not affect other rules', async () => {
    const address = await use('rate-limit')
    await until({ url: `http://${address}/free` }, { status: 200 })
    const statuses: (number | undefined)[] = []
    for (let request = 0; request < 7; request += 1) {
      statuses.push((await send({ url: `http://${address}/limited` })).status)
    }
    expect(statuses.slice(0, 5)).toEqual([200, 200, 200, 200, 200])
    expect(statuses).toContain(429)
    expect((await send({ url: `http://${address}/free` })).status).toBe(200)
  })

  it('llm: one format for both providers, keys from the Secret', async () => {
    const address = await use('llm')
    const ask = { method: 'POST', headers: { 'content-type': 'application/json' } }
    const body = JSON.stringify({ model: 'fast', messages: [{ role: 'user', content: 'hello' }] })
    const direct = await until({ ...ask, body, url: `http://${address}/v1/chat/completions` }, { status: 200 })
    expect(JSON.parse(direct.body ?? '')).toMatchObject({ model: 'demo-small', object: 'chat.completion' })
    const translated = await send({ ...ask, body, url: `http://${address}/claude/v1/chat/completions` })
    expect(JSON.parse(translated.body ?? '')).toMatchObject({
      model: 'demo-large',
      object: 'chat.completion',
      choices: [{ message: { content: 'You said: hello' } }],
    })
  })

  it('mcp: a session that stays at its server', async () => {
    const url = `http://${await use('mcp')}/mcp`
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const call = (id: number, method: string, params: unknown): string =>
      JSON.stringify({ jsonrpc: '2.0', id, method, params })
    const clientInfo = { name: 'e2e', version: '1' }
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
    const opened = await until(
      { url, method: 'POST', headers, body: call(1, 'initialize', params) },
      { status: 200, includes: ['serverInfo'] },
    )
    const session = String(opened.headers?.['mcp-session-id'])
    const inSession = { ...headers, 'mcp-session-id': session, 'mcp-protocol-version': '2025-06-18' }
    for (let id = 2; id < 8; id += 1) {
      const tools = await send({ url, method: 'POST', headers: inSession, body: call(id, 'tools/list', {}) })
      expect([tools.status, tools.body]).toEqual([200, expect.stringContaining('"tools"')])
    }
  })

  it('parameters: replicas, budget, Service type and limits are those of GwParameters', async () => {
    const address = await use('parameters')
    await until({ url: `http://${address}/` }, { status: 200 })
    const [pod] = await proxyCount('parameters', 3)
    expect(pod?.spec).toMatchObject({ terminationGracePeriodSeconds: 30 })
    expect(JSON.stringify(pod?.spec)).toContain('"memory":"512Mi"')
    expect((await get('service', NAMESPACE, 'parameters'))?.spec?.['type']).toBe('NodePort')
    expect((await get('pdb', NAMESPACE, 'parameters'))?.spec).toMatchObject({ maxUnavailable: 1 })
  })

  it('delegation: a team writes the routes below its path', async () => {
    const address = await use('delegation')
    const echoed = await until({ url: `http://${address}/shop/cart/1` }, { status: 200 })
    expect(JSON.parse(echoed.body ?? '')).toMatchObject({ path: '/shop/cart/1', headers: { 'x-team': 'shop' } })
    expect((await send({ url: `http://${address}/shop/other` })).status).toBe(404)
  })
})
