// Backends that this version does not support return 501 with the reason, and their models are not on the list.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { testProxy, type TestProxy } from '#proxy/main.testing.ts'

const REASON = 'backends of this kind are not supported by this version of the proxy'

let gateway: TestProxy

beforeAll(async () => {
  const provider = (settings: object) => ({
    name: 'p',
    provider: settings,
    hostOverride: { host: '127.0.0.1', port: 1 },
  })
  const notRun = provider({ unsupported: { provider: 'none', message: REASON } })
  gateway = await testProxy({
    routes: [
      { name: 'cloud', prefix: '/cloud', backend: { unsupported: REASON } },
      { name: 'broken', prefix: '/broken', backend: { invalid: 'secret shop/key not found' } },
      {
        name: 'openai',
        prefix: '/openai',
        backend: { ai: { groups: [{ providers: [notRun, provider({ openai: {} })] }] } },
      },
      { name: 'none', prefix: '/none', backend: { ai: { groups: [{ providers: [notRun] }] } } },
      {
        name: 'models',
        prefix: '/',
        backend: {
          models: {
            models: ['openai', 'cloud', 'broken', 'none', 'absent'].map((name) => ({ name, backend: `ns/${name}` })),
          },
        },
      },
    ],
  })
})

afterAll(() => gateway.stop())

it('a backend whose provider is not run answers 501 with the reason', async () => {
  const reply = await fetch(`${gateway.url}/cloud/v1/chat/completions`, { method: 'POST', body: '{"model":"m"}' })
  expect([reply.status, await reply.text()]).toEqual([501, `backend not supported: ${REASON}`])
})

it('a backend that is broken answers 500 and keeps its reason', async () => {
  const reply = await fetch(`${gateway.url}/broken/v1/chat/completions`, { method: 'POST', body: '{"model":"m"}' })
  expect([reply.status, await reply.text()]).toEqual([500, 'backend does not exist'])
})

it('the list of models has those that can be served', async () => {
  const reply = await fetch(`${gateway.url}/v1/models`)
  expect(await reply.json()).toMatchObject({ data: [{ id: 'openai' }] })
})

it('a model that is not served answers 501 with the reason', async () => {
  const body = '{"model":"cloud"}'
  const reply = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', body })
  expect(reply.status).toBe(501)
  expect(await reply.json()).toMatchObject({ error: { message: `backend not supported: ${REASON}` } })
})
