// gw run without a file: a provider of models in one command, and the ways to start.
import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeServer, freePort, listening } from '#test/ports.ts'
import { ANY_PORTS, gw, GwProcess } from './gw.ts'

let model: Server
let url: string

beforeAll(async () => {
  model = createServer((request, response) => {
    request.resume().on('end', () => {
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
      const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: request.url } }]
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ id: '1', object: 'chat.completion', created: 1, model: 'm', choices, usage }))
    })
  })
  url = `http://127.0.0.1:${await listening(model)}`
})

afterAll(() => closeServer(model))

describe('gw run --provider', () => {
  it('serves the models of the provider, except to pages of other sites', async () => {
    const port = await freePort()
    const gateway = new GwProcess(['run', '--provider', 'ollama', '--port', String(port), ...ANY_PORTS], {
      OLLAMA_URL: url,
    })
    await gateway.says(`gw: models of ollama: http://127.0.0.1:${port}/v1 for OpenAI clients`)
    const ask = (headers: Record<string, string>): Promise<Response> =>
      fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ model: 'llama3.2', messages: [{ role: 'user', content: 'hello' }] }),
      })
    const answer = await ask({})
    expect([answer.status, await answer.json()]).toEqual([200, expect.objectContaining({ object: 'chat.completion' })])
    expect((await ask({ 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    await gateway.stop()
  })

  it('lists the ways to start, and rejects unknown providers', { tags: ['full'] }, async () => {
    const alone = await gw('run')
    expect([alone.code, alone.stderr]).toEqual([1, expect.stringMatching(/^ {2}gw run --provider ollama /m)])
    const unknown = await gw('run', '--provider', 'opnai')
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('openai')])
  })
})
