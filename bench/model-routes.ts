// Requests to models for `make bench`: the answers of the upstream, the routes of Gw to it, and the requests with their
// counterparts at nginx, which relays the same bytes.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { routeAt } from './manifests.ts'
import type { MeasuredRoute } from './measured-route.ts'

/** Answers of a model, for Gw and nginx. */
export const MODEL_PORT = 19_110
export const MODEL_STREAM_PORT = 19_111
/** The same stream with each event in a write of its own: nginx cannot do that, so `flush-server.ts` does. */
export const MODEL_FLUSH_PORT = 19_112

/** With the last event that has usage. */
const EVENTS = 51

function completion(bytes: number): string {
  return JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: 'x'.repeat(bytes) }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 },
  })
}

function stream(): string {
  const chunk = (choices: readonly object[], usage: object | null): string =>
    `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm', choices, usage })}\n\n`
  const words = Array.from({ length: EVENTS - 1 }, (_, index) =>
    chunk([{ index: 0, delta: { content: `word${index} ` }, finish_reason: null }], null),
  )
  return [...words, chunk([], { prompt_tokens: 9, completion_tokens: 50, total_tokens: 59 }), 'data: [DONE]\n\n'].join(
    '',
  )
}

/** The file with the stream, for servers beside the upstream. */
export function streamFile(folder: string): string {
  const file = join(folder, 'stream')
  writeFileSync(file, stream())
  return file
}

/** Servers of the upstream's configuration, with their answers as files in `folder`. */
export function modelServers(folder: string): string {
  const server = (port: number, type: string, text: string): string => {
    writeFileSync(join(folder, `answer-${port}`), text)
    // A file is no answer to POST: an error page is sent with GET.
    return `
  server {
    listen 127.0.0.1:${port} backlog=4096;
    client_body_buffer_size 64k;
    location / { error_page 405 =200 /answer-${port}; return 405; }
    location = /answer-${port} { root ${folder}; default_type ${type}; }
  }`
  }
  return (
    server(MODEL_PORT, 'application/json', completion(600)) + server(MODEL_STREAM_PORT, 'text/event-stream', stream())
  )
}

/** Of the configuration of nginx: the servers it relays to, and its locations. */
export function modelUpstreams(): string {
  const one = (name: string, port: number): string =>
    `upstream ${name} { server 127.0.0.1:${port}; keepalive 64; keepalive_requests 1000000000; }`
  return [one('chat', MODEL_PORT), one('stream', MODEL_STREAM_PORT), one('flushes', MODEL_FLUSH_PORT)].join('\n  ')
}

export function modelLocations(): string {
  const one = (name: string, more = ''): string =>
    `location /${name} { client_body_buffer_size 64k; proxy_pass http://${name}; proxy_http_version 1.1; proxy_set_header Connection ""; ${more}}`
  return [one('chat'), one('stream'), one('flushes', 'proxy_buffering off; ')].join('\n    ')
}

export function chat(bytes: number, rest: object = {}): string {
  return JSON.stringify({
    model: 'm',
    max_tokens: 64,
    ...rest,
    messages: [{ role: 'user', content: 'x'.repeat(bytes) }],
  })
}

const JSON_TYPE = ['content-type: application/json']
export const modelRequest = (name: string, path: string, body: string, comparedTo?: string): MeasuredRoute => ({
  name,
  path,
  body,
  headers: JSON_TYPE,
  ...(comparedTo !== undefined && { comparedTo }),
})

const streamed = (name: string, route: string, comparedTo: string): MeasuredRoute =>
  modelRequest(name, `/${route}/v1/chat/completions`, chat(1024, { stream: true }), comparedTo)

export const NGINX_MODEL_ROUTES: readonly MeasuredRoute[] = [
  modelRequest('nginx, completions of 1 KiB', '/chat', chat(1024)),
  modelRequest('nginx, completions of 16 KiB', '/chat', chat(16 * 1024)),
  modelRequest('nginx, stream in one body', '/stream', chat(1024, { stream: true })),
  modelRequest('nginx, stream in 51 flushes', '/flushes', chat(1024, { stream: true })),
]

/** The same requests to backends that are not models: what remains is the price of a model. */
const RELAYED_ROUTES: readonly MeasuredRoute[] = [
  modelRequest('gw, relayed, 1 KiB', '/relayed-chat/', chat(1024), 'nginx, completions of 1 KiB'),
  modelRequest('gw, relayed, 16 KiB', '/relayed-chat/', chat(16 * 1024), 'nginx, completions of 16 KiB'),
  modelRequest('gw, relayed stream in one body', '/relayed-stream/', chat(1024), 'nginx, stream in one body'),
  modelRequest('gw, relayed stream in 51 flushes', '/relayed-flushes/', chat(1024), 'nginx, stream in 51 flushes'),
]

export const MODEL_ROUTES: readonly MeasuredRoute[] = [
  ...RELAYED_ROUTES,
  modelRequest('gw, completions of 1 KiB', '/chat/v1/chat/completions', chat(1024), 'nginx, completions of 1 KiB'),
  modelRequest(
    'gw, completions of 16 KiB',
    '/chat/v1/chat/completions',
    chat(16 * 1024),
    'nginx, completions of 16 KiB',
  ),
  modelRequest('gw, messages to completions, 1 KiB', '/chat/v1/messages', chat(1024), 'nginx, completions of 1 KiB'),
  streamed('gw, stream in one body', 'stream', 'nginx, stream in one body'),
  streamed('gw, stream in 51 flushes', 'flushes', 'nginx, stream in 51 flushes'),
  streamed('gw, stream in one body, masked by a guard', 'guarded', 'nginx, stream in one body'),
  streamed('gw, stream in 51 flushes, masked by a guard', 'guarded-flushes', 'nginx, stream in 51 flushes'),
  modelRequest(
    'gw, completions of 1 KiB, token limit',
    '/limited/v1/chat/completions',
    chat(1024),
    'gw, completions of 1 KiB',
  ),
]

const PORTS: Readonly<Record<string, number>> = {
  chat: MODEL_PORT,
  stream: MODEL_STREAM_PORT,
  flushes: MODEL_FLUSH_PORT,
}

/** Routes at the paths of their names. */
export function modelManifests(): readonly object[] {
  return [
    ...Object.entries(PORTS).flatMap(([name, port]) => [
      backend(name, { ai: { provider: { p1: {}, host: '127.0.0.1', port } } }),
      routeAt(name, name),
      backend(`relayed-${name}`, { static: { host: '127.0.0.1', port } }),
      routeAt(`relayed-${name}`, `relayed-${name}`),
    ]),
    routeAt('limited', 'chat'),
    policy('limited', { traffic: { rateLimit: { local: [{ tokens: 2_000_000_000, unit: 'Hours' }] } } }),
    routeAt('guarded', 'stream'),
    policy('guarded', MASKS),
    routeAt('guarded-flushes', 'flushes'),
    policy('guarded-flushes', MASKS),
  ]
}

function backend(name: string, spec: object): object {
  return { apiVersion: 'gw.dev/v1alpha1', kind: 'GwBackend', metadata: { name }, spec }
}

const MASKS = {
  backend: {
    ai: { promptGuard: { streaming: 'Enabled', response: [{ regex: { action: 'Mask', builtins: ['Email'] } }] } },
  },
}

/** For the route of the same name. */
function policy(name: string, fields: object): object {
  return {
    apiVersion: 'gw.dev/v1alpha1',
    kind: 'GwPolicy',
    metadata: { name },
    spec: { targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name }], ...fields },
  }
}
