// Requests to MCP servers for `make bench`: the answers of the servers, the routes of Gw to them, and the requests with
// their counterparts at nginx, which relays the same bytes.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { routeAt } from './manifests.ts'
import type { MeasuredRoute } from './measured-route.ts'

/** MCP servers that are files, for Gw and nginx: one port for each kind of answers. */
export const MCP_JSON_PORT = 19_113
export const MCP_STREAM_PORT = 19_114
export const MCP_LIST_PORT = 19_115

/** Of every request, so that a file can answer it. */
const ID = 1
const TOOL = 'search'
const TOOLS_OF_A_SERVER = 10
/** A server as a plain backend, without MCP. */
const RELAY = 'mcp-relay'

const answer = (result: object): string => JSON.stringify({ jsonrpc: '2.0', id: ID, result })
const INITIALIZED = answer({
  protocolVersion: '2025-06-18',
  capabilities: { tools: { listChanged: true } },
  serverInfo: { name: 'bench', version: '1' },
})
const RESULT = answer({ content: [{ type: 'text', text: 'x'.repeat(600) }], isError: false })
const TOOLS = answer({
  tools: Array.from({ length: TOOLS_OF_A_SERVER }, (_, index) => ({
    name: `${TOOL}${index}`,
    description: 'Searches the documents of the project for words.',
    inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
  })),
})

interface McpServer {
  readonly name: string
  readonly port: number
  readonly type: string
  readonly text: string
}

const SERVERS: readonly McpServer[] = [
  { name: 'mcp-json', port: MCP_JSON_PORT, type: 'application/json', text: RESULT },
  {
    name: 'mcp-stream',
    port: MCP_STREAM_PORT,
    type: 'text/event-stream',
    text: `event: message\ndata: ${RESULT}\n\n`,
  },
  { name: 'mcp-list', port: MCP_LIST_PORT, type: 'application/json', text: TOOLS },
]

/**
 * Servers of the upstream's configuration, with their answers as files in `folder`. A request without a session is
 * `initialize`.
 */
export function mcpServers(folder: string): string {
  const file = (port: number, name: string, text: string): void => writeFileSync(join(folder, `${name}-${port}`), text)
  const one = ({ port, type, text }: McpServer): string => {
    file(port, 'first', INITIALIZED)
    file(port, 'later', text)
    // A file is no answer to POST: an error page is sent with GET.
    return `
  server {
    listen 127.0.0.1:${port} backlog=4096;
    client_body_buffer_size 64k;
    location / { error_page 405 =200 /$mcp_answer-${port}; return 405; }
    location = /first-${port} { root ${folder}; default_type application/json; add_header mcp-session-id of-server; }
    location = /later-${port} { root ${folder}; default_type ${type}; }
  }`
  }
  return `
  map $http_mcp_session_id $mcp_answer { "" first; default later; }${SERVERS.map(one).join('')}`
}

/** Of the configuration of nginx: the servers it relays to, and its locations. */
export function mcpUpstreams(): string {
  return SERVERS.map(
    ({ name, port }) => `upstream ${name} { server 127.0.0.1:${port}; keepalive 64; keepalive_requests 1000000000; }`,
  ).join('\n  ')
}

export function mcpLocations(): string {
  return SERVERS.map(
    ({ name }) =>
      `location /${name} { client_body_buffer_size 64k; proxy_pass http://${name}; proxy_http_version 1.1; proxy_set_header Connection ""; }`,
  ).join('\n    ')
}

const HEADERS = [
  'content-type: application/json',
  'accept: application/json, text/event-stream',
  'mcp-protocol-version: 2025-06-18',
]

const request = (method: string, params: object): string => JSON.stringify({ jsonrpc: '2.0', id: ID, method, params })
const INITIALIZE = request('initialize', {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1' },
})
const LIST = request('tools/list', {})

function call(name: string, path: string, tool: string, comparedTo?: string): MeasuredRoute {
  const body = request('tools/call', { name: tool, arguments: { query: 'x'.repeat(100), limit: 10 } })
  return { name, path, body, sessionFrom: INITIALIZE, headers: HEADERS, ...(comparedTo && { comparedTo }) }
}

/** The requests of a session in turn: each answer to the first one makes one of the second. */
function initializeAndList(name: string, path: string, comparedTo?: string): MeasuredRoute {
  return { name, path, body: INITIALIZE, bodyInSession: LIST, headers: HEADERS, ...(comparedTo && { comparedTo }) }
}

export const NGINX_MCP_ROUTES: readonly MeasuredRoute[] = [
  call('nginx, tools/call, JSON', '/mcp-json', TOOL),
  call('nginx, tools/call, stream', '/mcp-stream', TOOL),
  initializeAndList('nginx, initialize + tools/list', '/mcp-list'),
]

export const MCP_ROUTES: readonly MeasuredRoute[] = [
  // The least that a call can cost.
  call('gw, relay of tools/call, JSON', `/${RELAY}/`, TOOL, 'nginx, tools/call, JSON'),
  call('gw, tools/call, 1 target, JSON', '/mcp-json-1/', TOOL, 'nginx, tools/call, JSON'),
  call('gw, tools/call, 1 target, stream', '/mcp-stream-1/', TOOL, 'nginx, tools/call, stream'),
  call('gw, tools/call, 4 targets, JSON', '/mcp-json-4/', `t3_${TOOL}`, 'nginx, tools/call, JSON'),
  call('gw, tools/call, 4 targets, stream', '/mcp-stream-4/', `t3_${TOOL}`, 'nginx, tools/call, stream'),
  initializeAndList('gw, initialize + tools/list, 8 targets', '/mcp-list-8/', 'nginx, initialize + tools/list'),
]

/** Routes at the paths of their names. */
export function mcpManifests(): readonly object[] {
  const relay = { static: { host: '127.0.0.1', port: MCP_JSON_PORT } }
  return [
    { apiVersion: 'gw.dev/v1alpha1', kind: 'GwBackend', metadata: { name: RELAY }, spec: relay },
    routeAt(RELAY, RELAY),
    ...mcpBackend('mcp-json-1', MCP_JSON_PORT, 1),
    ...mcpBackend('mcp-stream-1', MCP_STREAM_PORT, 1),
    ...mcpBackend('mcp-json-4', MCP_JSON_PORT, 4),
    ...mcpBackend('mcp-stream-4', MCP_STREAM_PORT, 4),
    ...mcpBackend('mcp-list-8', MCP_LIST_PORT, 8),
  ]
}

function mcpBackend(name: string, port: number, count: number): readonly object[] {
  const targets = Array.from({ length: count }, (_, index) => ({
    name: `t${index}`,
    static: { host: '127.0.0.1', port },
  }))
  return [
    { apiVersion: 'gw.dev/v1alpha1', kind: 'GwBackend', metadata: { name }, spec: { mcp: { targets } } },
    routeAt(name, name),
  ]
}
