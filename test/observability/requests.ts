// One request for each place that shows a field of the log or a variable.
import { request as httpsRequest } from 'node:https'
import { connect } from 'node:net'
import { ask, type Answer, type Question } from '#test/conformance/suite/ask.ts'
import { API_KEY, type Everything } from './everything.ts'
import type { Shown } from './expected-fields.ts'

const TEAM = { 'x-team': 'core' }

type Send = (shown: Shown, rule: string, question?: Question) => Promise<Answer>

/** The query of each request names it in the log. */
export async function sendAll(all: Everything): Promise<void> {
  const send: Send = (shown, rule, { headers = {}, ...rest } = {}) => {
    const path = `/${rule}?seen=${shown}`
    return ask(`http://127.0.0.1:${all.ports.http}${path}`, { ...rest, headers: { ...TEAM, ...headers } })
  }
  const bearer = (token: string): Question => ({ headers: { authorization: `Bearer ${token}` } })
  await send('echo', 'echo')
  await ask(`http://127.0.0.1:${all.ports.http}/signed`, { headers: TEAM })
  await send('sampled', 'asked', { headers: { 'x-sampled': '1', authorization: 'Bearer alice-token' } })
  await send('jwt', 'jwt', bearer(await all.issuer.token({ sub: 'alice' })))
  await send('key', 'key', bearer(API_KEY))
  const user = Buffer.from('ann:secret').toString('base64')
  await send('basic', 'basic', { headers: { authorization: `Basic ${user}` } })
  await send('processed', 'processed')
  await send('changed', 'changed')
  await send('retried', 'retried')
  await send('gone', 'gone')
  await send('grpc', 'gone', { method: 'POST', headers: { 'content-type': 'application/grpc' } })
  await send('agent', 'agent', rpc('message/send', { contextId: 'c-1' }))
  await send('agentError', 'agent', rpc('tasks/get', {}))
  const messages = [{ role: 'user', content: 'one two three' }]
  await send('stream', 'model/v1/chat/completions', json({ model: 'demo', messages, stream: true }))
  const limits = { max_tokens: 9, temperature: 0.5, top_p: 0.9, seed: 7, frequency_penalty: 0.1, presence_penalty: 0.2 }
  await send('media', 'media/v1/chat/completions', json({ model: 'demo', messages, ...limits }))
  const shape = { encoding_format: 'float', dimensions: 8 }
  await send('embeddings', 'media/v1/embeddings', json({ model: 'demo', input: 'one', ...shape }))
  await sendMcp(send)
  await sendHttps(all)
  await sendTcp(all)
}

function json(body: object, headers: Readonly<Record<string, string>> = {}): Question {
  return { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
}

function rpc(method: string, params: object, headers: Readonly<Record<string, string>> = {}): Question {
  return json({ jsonrpc: '2.0', id: 1, method, params }, headers)
}

async function sendMcp(send: Send): Promise<void> {
  const accept = { accept: 'application/json, text/event-stream' }
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
  const { headers } = await send('session', 'tools', rpc('initialize', params, accept))
  const session = { ...accept, 'mcp-session-id': String(headers['mcp-session-id']) }
  const call = (shown: Shown, method: string, own: object): Promise<Answer> =>
    send(shown, `tools/${shown}`, rpc(method, own, session))
  await call('tool', 'tools/call', { name: 'upper', arguments: { text: 'a' } })
  await call('mcpError', 'prompts/get', { name: 'none' })
  await call('prompt', 'prompts/get', { name: 'greeting' })
  await call('resource', 'resources/read', { uri: 'file:///a' })
}

/** With the client's certificate. */
async function sendHttps({ ports, client }: Everything): Promise<void> {
  const path = '/secure?seen=https'
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const own = { cert: client.certificate, key: client.privateKey, servername: 'localhost', rejectUnauthorized: false }
  const options = { host: '127.0.0.1', port: ports.https, path, headers: { ...TEAM, host: 'localhost' }, agent: false }
  const call = httpsRequest({ ...options, ...own }, (response) => {
    response.resume().on('end', resolve)
  })
  call.on('error', reject)
  call.end()
  await promise
}

/** Bytes of HTTP, on a port that does not parse them. */
async function sendTcp({ ports }: Everything): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const socket = connect(ports.tcp, '127.0.0.1', () => {
    socket.write('GET /raw HTTP/1.1\r\nhost: raw\r\nconnection: close\r\n\r\n')
  })
  socket.on('error', reject)
  socket.resume().on('end', resolve)
  await promise
}
